//! The rules of a Field and its state, and nothing that runs: `decide` turns a command into events, `apply` turns
//! events into state. One file for each operation, in `rules`.
//!
//! Pure: no clock, no randomness, no threads, no storage, no map whose order shows. Ids, salts and times come in
//! with a command, drawn from an [`Origin`] before it is decided. So the state after a log is a
//! function of the log.
#![warn(clippy::indexing_slicing)]

pub mod apply;
pub mod cursor;
pub mod event;
pub mod ids;
pub mod limits;
pub mod message;
pub mod origin;
pub mod outline;
pub mod rules;
pub mod searchable;
pub mod state;
pub mod visibility;

pub use event::{
    Event,
    documents::{DocumentKind, DocumentOwner},
};
pub use ids::UnitId;
pub use message::{Message, RoleGrant};
pub use origin::Origin;
pub use rules::Refusal;
pub use state::State;
pub use visibility::{Reader, Sight};
