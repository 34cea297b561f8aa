//! The Harn Agents Protocol over a Field: its resources as views of the one state, its writes as commands,
//! receipts for whatever ended, and replay. One file per resource, one method of [`Harness`] per endpoint.
//! Knows nothing of HTTP.

mod built_in;
mod caller;
mod event;
mod failure;
mod harness;
mod notary;
mod options;
mod outcome;
mod page;
mod receipt;
mod receipt_check;
mod resource;
mod workspace;
mod write;

pub use built_in::{SESSION_DEFAULT, WORKSPACE_DEFAULT};
pub use caller::Caller;
pub use event::{EventPlace, NoteBody, narrate};
pub use failure::{harn_error, not_found};
pub use harness::Harness;
pub use options::{CONTENT_BYTES_MAX, HarnessOptions};
pub use page::Page;
pub use write::Asked;
