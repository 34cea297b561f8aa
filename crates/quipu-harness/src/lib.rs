//! The Harn Agents Protocol over a Field: its resources as views of the one state, its writes as commands,
//! receipts for whatever ended, and replay. One file per resource, one method of [`Harness`] per endpoint.
//! Knows nothing of HTTP.

mod artifact;
mod built_in;
mod caller;
mod content;
mod event;
mod event_feed;
mod event_range;
mod event_scope;
mod failure;
mod field_run;
mod harness;
mod notary;
mod options;
mod outcome;
mod page;
mod receipt;
mod receipt_check;
mod recording;
mod replaying;
mod resource;
mod shown;
mod task;
mod task_submit;
mod work;
mod workspace;
mod write;

pub use artifact::{ArtifactContent, ArtifactFilter};
pub use built_in::{PERSONA_FIELD, PERSONA_FIELD_NAME, SESSION_DEFAULT, WORKSPACE_DEFAULT};
pub use caller::Caller;
pub use event::{EventPlace, NoteBody, narrate, narrate_places};
pub use event_feed::{EventFeed, Fed};
pub use event_scope::EventScope;
pub use failure::{harn_error, not_found};
pub use harness::Harness;
pub use options::{CONTENT_BYTES_MAX, HarnessOptions};
pub use page::Page;
pub use recording::Recorded;
pub use task::TaskFilter;
pub use task_submit::Submitted;
pub use write::Asked;
