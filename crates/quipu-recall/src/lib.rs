//! Text to meaning: what a reader should be given, in which order, why, and how much of it.
//!
//! Recall has three stages, each behind its own type so that further signals can join:
//! a [`Query`] says what is asked, an [`Index`] finds candidates, [`score`](score::score) weighs
//! their signals. [`rank`](rank::rank), [`reason`](explain::reason) and [`Budget`](budget::Budget) follow.
//! Documents are `u32` ordinals and authors opaque `u32`: agents, transport and storage are unknown here.

pub mod analyze;
pub mod around;
mod bits;
pub mod budget;
mod codes;
mod coverage;
pub mod detect;
pub mod embed;
mod embedding;
pub mod explain;
mod extract;
pub mod index;
pub mod lexical;
pub mod limits;
pub mod look;
mod newest;
mod postings;
pub mod query;
pub mod rank;
pub mod score;
mod seen;
mod sentences;
mod standing;
mod stem;
mod stored;
mod summarizer;
pub mod summary;
pub mod tokens;
mod top;
pub mod vectors;
pub mod weights;
mod words;

pub use analyze::{Analyzed, analyze, analyze_with};
pub use around::Neighbours;
pub use coverage::coverage;
pub use detect::{Claim, Detector, Disagreement, ExplicitOnly, Method};
pub use embed::{EmbedError, Embedder};
pub use embedding::Embedding;
pub use index::Index;
pub use lexical::{Hit, Lexical};
pub use look::Look;
pub use newest::Newest;
pub use query::Query;
pub use seen::Seen;
pub use stored::IndexError;
pub use summarizer::{Summarizer, SummarizerError};
pub use vectors::{Probe, Space, Vectors};
pub use weights::{WeightError, WeightSets, Weights};
