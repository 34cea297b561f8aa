//! Writes of the Harn protocol. Each is one command and one commit: at most one act (something that moves a
//! session or a task), the documents that it makes or changes, the notes about tasks, and the idempotency
//! key that it answers. Sessions and tasks are those of SESSION and COORDINATE; only the words differ.

mod act;
mod attempts;
mod command;
mod decide;
mod error;
mod import;
mod session_acts;
mod task_acts;

pub use act::{AUTHORITY_OTHERS, HarnAct};
pub use command::{DocumentDraft, Expect, HarnCommand, NoteDraft};
pub(super) use decide::is_same;
pub use decide::{AUTHORITY_WRITE, FIELD_AGENT, decide};
pub use error::Error;
pub use import::ImportedTask;
