//! Replay of recorded Tasks over the log. What a replay is and what its receipt says is `quipu-replay`'s, which
//! knows no storage; here a task's stream becomes a recording, a plan becomes a document, and what came of it
//! becomes one commit. The events of a replay in process are not stored: they follow from the source's
//! stream, the plan, and how many were replayed.

mod checkpoint;
mod divergence;
mod document;
mod events;
mod export;
mod finish;
mod import;
mod materials;
mod module;
mod receipt;
mod recording;
mod rederive;
mod resolve;
pub(crate) mod resolve_access;
mod run;
mod secrets;
mod session;
mod source;
mod start;
mod stream;
mod vault;
mod worker;

pub(crate) use document::ReplayDocument;
pub(crate) use events::Stretch;
pub(crate) use finish::Finish;
pub(crate) use receipt::Grounds;
pub(crate) use secrets::HeldSecrets;
