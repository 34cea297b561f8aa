//! The Harn Agents Protocol over a Field: its resources as views of the one state, its writes as commands,
//! receipts for whatever ended, and replay. One file per resource, one method of [`Harness`] per endpoint.
//! Knows nothing of HTTP.

mod event;
mod handle;
mod permission;
mod receipt;
mod replay;
mod resource;
mod session;
mod task;
mod visibility;

pub use event::events::{EventPlace, NoteBody, narrate, narrate_places};
pub use event::feed::{EventFeed, Fed};
pub use event::scope::EventScope;
pub use handle::caller::Caller;
pub use handle::counts::Counts;
pub use handle::failure::{harn_error, not_found};
pub use handle::harness::Harness;
pub use handle::options::{CONTENT_BYTES_MAX, HarnessOptions};
pub use handle::page::Page;
pub use handle::resting::Resting;
pub use handle::write::Asked;
pub use permission::{AuditFilter, PermissionFilter};
pub use resource::artifact::{ArtifactContent, ArtifactFilter};
pub use resource::built_in::{
    PERSONA_FIELD, PERSONA_FIELD_NAME, SESSION_DEFAULT, WORKSPACE_DEFAULT,
};
pub use resource::built_in_resources::skill as built_in_skill;
pub use resource::connector::CONNECTOR_WEBHOOK;
pub use resource::delivery::Delivery;
pub use resource::memory_view::MemoryFilter;
pub use resource::sealing::{Sealer, SealingError};
pub use task::submit::Submitted;
pub use task::tasks::TaskFilter;
pub use task::worker_record::Recorded;
