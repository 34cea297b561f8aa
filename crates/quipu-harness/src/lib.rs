//! The Harn Agents Protocol over a Field: its resources as views of the one state, its writes as commands,
//! receipts for whatever ended, and replay. One file per resource, one method of [`Harness`] per endpoint.
//! Knows nothing of HTTP.

mod branch;
mod built_in;
mod built_in_resources;
mod caller;
mod event;
mod failure;
mod fork;
mod harness;
mod memory;
mod memory_view;
mod message;
mod page;
mod persona;
mod quota;
mod quota_usage;
mod resource;
mod session;
mod session_facts;
mod session_view;
mod shown;
mod skill;
mod transcript;
mod workspace;
mod write;

pub use built_in::{PERSONA_FIELD, PERSONA_FIELD_NAME, SESSION_DEFAULT, WORKSPACE_DEFAULT};
pub use caller::Caller;
pub use event::{EventPlace, NoteBody, narrate};
pub use failure::{harn_error, not_found};
pub use harness::Harness;
pub use memory_view::MemoryFilter;
pub use page::Page;
pub use write::Asked;
