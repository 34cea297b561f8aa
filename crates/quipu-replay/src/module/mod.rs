//! `.harn` modules: compiling them, running them with answers from outside, and replaying them from a
//! recording. A module has no clock, no network and no randomness of its own: whatever it asks for becomes a
//! dependency under a stable key, and a run without the answer stops there and can go on later.

mod answers;
mod compile;
mod death;
mod diagnostic;
mod involved;
mod kernel;
mod keys;
mod limits;
mod llm;
mod policy;
mod program;
mod remote;
mod replay;
mod run;
mod secrecy;
mod snapshot;

#[cfg(test)]
mod tests;

pub use answers::{Answer, Answers, Request};
pub use compile::{Module, ModuleError, read_input};
pub use death::{Death, DeathCause, RunError};
pub use diagnostic::Diagnostic;
pub use limits::{CALLS_MAX, CHAIN_MAX, SNAPSHOT_BYTES_MAX, SOURCE_BYTES_MAX, WORK_MAX};
pub use policy::{Policy, SnapshotKey};
pub use program::Program;
pub use remote::{Lost, Remote, serve};
pub use replay::{ModuleEnd, ModuleReplay, Recorded, replay_module, replay_module_from};
pub use run::{ModuleRun, resume, run};
pub use snapshot::SnapshotError;
