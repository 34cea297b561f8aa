//! The variants, by the operation whose rules they break.

mod attune;
mod attune_scope;
mod clock;
mod compact;
mod coordinate;
mod detect;
mod doors;
mod envelope;
mod errors;
mod handoff;
mod merge;
mod merge_strategies;
mod record;
mod record_effects;
mod register;
mod replay;
mod security;
mod session;
mod shapes;
mod subscribe;
mod subtle;
mod visibility;

use super::{past, tamper, trial};
