//! The rules of a Field: `decide` and `apply`, one file per operation; the single writer that turns
//! commands into commits; snapshots; reads that never wait for storage.
//!
//! The core is pure: `ops` and `apply` read no clock, draw nothing, and iterate over no map whose
//! order is not fixed. What is observed comes in through a command, from an [`Origin`].
//! This crate knows nothing of HTTP, and nothing of engines but their contract.
#![warn(clippy::indexing_slicing)]

pub mod apply;
mod apply_coordination;
mod apply_documents;
mod apply_settling;
mod apply_texts;
mod asking;
mod bodies;
pub mod command;
mod compacting;
mod compose;
pub mod coordination;
mod depot;
mod depot_queue;
mod detecting;
pub mod documents;
mod enriching;
pub mod event;
mod event_reading;
mod failure;
mod field;
mod field_attuning;
mod field_closing;
mod field_coordination;
mod field_detecting;
mod field_enriching;
mod field_harn;
mod field_listing;
mod field_options;
mod field_reading;
mod field_recording;
mod field_settling;
mod field_sharing;
mod fields;
mod fields_unloading;
mod filtering;
mod first_answer;
mod follower;
mod following;
mod health;
pub mod ids;
pub mod lamport;
pub mod limits;
mod matching;
mod merge;
mod meter;
mod models;
mod offering;
pub mod ops;
mod origin;
mod past;
mod proof_files;
mod proofs;
mod publication;
pub mod purge;
pub mod push;
mod ranking;
mod replaying;
pub mod restore;
mod roles;
pub mod snapshot;
mod snapshot_store;
mod snapshotter;
pub mod state;
mod subscribing;
mod synthesis;
mod task_moves;
mod telling;
pub mod view;
pub mod visibility;
pub mod words;
mod writer;
mod writer_shared;

pub use command::Message;
pub use depot::{Depot, DepotCounts};
pub use detecting::DetectionOptions;
pub use enriching::EnrichmentProgress;
pub use failure::with_causes;
pub use field::Field;
pub use field_harn::HarnOutcome;
pub use field_options::FieldOptions;
pub use fields::Fields;
pub use fields_unloading::Keeping;
pub use health::Health;
pub use meter::Meter;
pub use models::FieldModels;
pub use origin::{Origin, ScriptedOrigin, SystemOrigin};
pub use proofs::CommitProof;
pub use ranking::RankingOptions;
pub use snapshot_store::{SnapshotStore, StoreError};
pub use task_moves::TaskMoved;
