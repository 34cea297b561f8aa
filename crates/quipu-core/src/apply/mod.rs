//! Makes a state from events, at the start and after each commit. A function of the log alone.

mod conflicts;
mod coordination;
mod dispatch;
mod documents;
mod texts;

pub use coordination::{handoff_changed, session_changed, task_changed};
use dispatch::find;
pub use dispatch::{Inconsistent, apply};
