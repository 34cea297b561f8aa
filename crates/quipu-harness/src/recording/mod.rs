//! Recordings of Tasks: what happened in a run, event by event, as a replay reads it. A run of a worker is read from
//! its stream; a replay in process follows from its source's recording, its plan, and how many events were replayed.

pub(crate) mod bound_log;
pub(crate) mod checkpoint;
pub(crate) mod departures;
pub(crate) mod document;
pub(crate) mod exported;
pub(crate) mod finish;
pub(crate) mod lookup;
pub(crate) mod materials;
pub(crate) mod outcome;
pub(crate) mod read;
pub(crate) mod replayed_events;
pub(crate) mod steps;
mod strict;
pub(crate) mod worked;
pub(crate) mod worker_outcome;
