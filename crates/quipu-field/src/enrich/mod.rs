//! A second vector for every unit, from a model that is slow and may fail. It comes in the background,
//! after RECORD, and is used where it has arrived. What is still missing is always clear from the state
//! and the index, so there is no queue to lose.

mod enricher;
mod progress;
mod query_vectors;
mod vector_file;
mod work;

pub(crate) use enricher::{Enriching, Waiting};
pub use progress::EnrichmentProgress;
pub(crate) use vector_file::{finish_purge_of_vectors, purge_file};
pub(crate) use work::{Work, is_wanted};
