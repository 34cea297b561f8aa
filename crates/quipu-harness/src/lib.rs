//! The Harn Agents Protocol over a Field: its resources as views of the one state, its writes as commands,
//! receipts for whatever ended, and replay. One file per resource, one method of [`Harness`] per endpoint.
//! Knows nothing of HTTP.
//!
//! The rooms from the lowest to the highest; each uses only those before it:
//!
//! 1. `stored`: what this protocol writes into the log.
//! 2. `module_host`: where modules run.
//! 3. `handle`: [`Harness`], and what all its methods share.
//! 4. `visibility`: what a caller may know of and see.
//! 5. `event`: what a commit tells.
//! 6. `document`: resources that are kept as documents.
//! 7. `task`: Tasks as they are read.
//! 8. `recording`: what happened in a run, as a replay reads it.
//! 9. `feed`: Events by range and as they happen.
//! 10. `resource`: workspaces, personas, vaults, quotas, artifacts, memories.
//! 11. `session`: Sessions, their branches and forks, and Messages.
//! 12. `permission`: policy, rules, questions and their answers.
//! 13. `receipt`: reading, checking and issuing receipts.
//! 14. `work`: work on Tasks.
//! 15. `replay`: replaying Tasks, and exchanging them with other servers.

mod document;
mod event;
mod feed;
mod handle;
mod module_host;
mod permission;
mod receipt;
mod recording;
mod replay;
mod resource;
mod session;
mod stored;
mod task;
mod visibility;
mod work;

pub use event::narrate::{narrate, narrate_with_positions};
pub use event::position::EventPosition;
pub use event::scope::EventScope;
pub use feed::event_feed::{EventFeed, Fed};
pub use handle::caller::Caller;
pub use handle::failure::{harn_error, harn_refusal, not_found};
pub use handle::harness::Harness;
pub use handle::options::{CONTENT_BYTES_MAX, HarnessOptions};
pub use handle::page::Page;
pub use handle::resting::Resting;
pub use handle::sealing::{Sealer, SealingError};
pub use handle::write::WriteRequest;
pub use module_host::host::ModuleHost;
pub use module_host::processes::{ModuleProcesses, ModuleRunner};
pub use permission::{AuditFilter, PermissionFilter};
pub use resource::artifact::ArtifactFilter;
pub use resource::artifact_content::ArtifactContent;
pub use resource::built_in_resources::skill as built_in_skill;
pub use resource::connector::CONNECTOR_WEBHOOK;
pub use resource::memory_view::MemoryFilter;
pub use resource::workspace_file::FileView;
pub use stored::built_in::{
    PERSONA_FIELD, PERSONA_FIELD_NAME, PERSONA_WORKER, SESSION_DEFAULT, WORKSPACE_DEFAULT,
};
pub use stored::note::NoteBody;
pub use task::tasks::TaskFilter;
pub use visibility::counts::Counts;
pub use work::delivery::{Delivery, not_signed};
pub use work::submit::Submitted;
pub use work::worker_record::Recorded;
