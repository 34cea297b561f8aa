//! What runs the rules of a Field: the single writer that turns commands into commits, snapshots, pushes, work in
//! the background, and reads that never wait for storage. The rules themselves are in `quipu-core`.
//!
//! Rooms, each importing only from those before it: `base`, `read`, `push`, `snapshot`, `compact`, `proof`, `write`,
//! `detect`, `enrich`, `field`, `ops`. This crate knows nothing of HTTP, and nothing of engines but their contract.
#![warn(clippy::indexing_slicing)]

mod base;
mod compact;
mod detect;
mod enrich;
mod field;
mod ops;
mod proof;
pub mod push;
mod read;
pub mod snapshot;
mod write;

pub use base::{
    asker::{Asker, nobody_waits},
    error::{EpochError, FieldError, Overload, RequestError},
    failure::with_causes,
    health::Health,
    limits,
    meter::Meter,
    models::FieldModels,
    steady::{ClockJump, ClockJumps},
    system_origin::SystemOrigin,
    turns::Turns,
    unavailable::Unavailable,
};
pub use compact::purge;
pub use detect::DetectionOptions;
pub use enrich::EnrichmentProgress;
pub use field::{
    Field, fields::Fields, index_later::TextsBehind, options::FieldOptions, unload::Keeping,
};
pub use ops::{HarnOutcome, ModelInUse, ModelRole};
pub use proof::proofs::CommitProof;
pub use quipu_core::{Message, Origin, origin::ScriptedOrigin};
pub use read::{
    attune::{
        answer::{Glance, glance},
        rank::RankingOptions,
    },
    view,
};
pub use snapshot::{
    depot::{Depot, DepotCounts},
    restore,
    store::{SnapshotStore, StoreError},
};
pub use write::{clock, task_moves::TaskMoved};
