//! The Harn Agents Protocol over a Field: its resources as views of the one state, its writes as commands,
//! receipts for whatever ended, and replay. One file per resource, one method of [`Harness`] per endpoint.
//! Knows nothing of HTTP.

mod caller;
mod event;
mod failure;
mod harness;
mod page;
mod replaying;
mod resource;
mod workspace;
mod write;

pub use caller::Caller;
pub use event::{EventPlace, NoteBody, narrate, narrate_placed};
pub use failure::{harn_error, not_found};
pub use harness::Harness;
pub use page::Page;
pub use write::Asked;
