//! The cases of each operation, in the order of their rules in sections 3 and 8.2 of the catalogue.

pub(crate) mod attune;
pub(crate) mod attune_scope;
pub(crate) mod compact;
pub(crate) mod coordinate;
pub(crate) mod coordinate_moves;
pub(crate) mod deregister;
pub(crate) mod detect;
pub(crate) mod handoff;
pub(crate) mod merge;
pub(crate) mod merge_strategies;
pub(crate) mod record;
pub(crate) mod record_effects;
pub(crate) mod register;
pub(crate) mod replay;
pub(crate) mod replay_reasons;
pub(crate) mod session;
pub(crate) mod subscribe;
pub(crate) mod subscribe_events;
