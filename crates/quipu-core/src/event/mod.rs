//! What can happen in a Field, as the log keeps it.

pub mod coordination;
pub mod documents;

mod codec;
mod field_event;

pub use field_event::{
    ClockReason, ConflictBody, Event, HintBody, Link, ResolutionBody, RetractionBody, ReturnedUnit,
    Spared, UnitBody,
};
