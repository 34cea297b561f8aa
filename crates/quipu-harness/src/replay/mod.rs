//! Replay of recorded Tasks over the log. What a replay is and what its receipt says is `quipu-replay`'s, which
//! knows no storage; here a plan becomes a document, and what came of it becomes one commit. Tasks of other servers
//! come in and go out here too.

pub(crate) mod divergence;
pub(crate) mod export;
pub(crate) mod field_answer;
mod import;
pub(crate) mod import_check;
pub(crate) mod module;
pub(crate) mod resolve;
pub(crate) mod resolve_access;
mod resolve_run;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod source;
pub(crate) mod start;
pub(crate) mod vault;
