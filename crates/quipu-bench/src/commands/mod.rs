//! One file for each question that is asked of one server or of this machine.

pub(crate) mod attune;
pub(crate) mod compact;
pub(crate) mod engine;
pub(crate) mod fields;
pub(crate) mod growth;
pub(crate) mod mcp;
pub(crate) mod module_replay;
pub(crate) mod open;
pub(crate) mod probe;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod subscribe;
pub(crate) mod task_replay;
