//! The one way into the log: the writer, the clock, and what makes its commits visible.

pub(crate) mod among_nodes;
pub(crate) mod batch;
pub mod clock;
pub(crate) mod following;
pub(crate) mod job;
pub(crate) mod log_end;
pub(crate) mod neighbours;
pub(crate) mod publication;
pub(crate) mod task_moves;
pub(crate) mod writer;
