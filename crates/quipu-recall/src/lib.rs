//! Text to meaning: what a reader should be given, in which order, why, and how much of it.
//!
//! Recall has three stages, each behind its own type so that further signals can join:
//! a [`Query`] says what is asked, an [`Index`] finds candidates, [`score`](rank::score::score) weighs
//! their signals. [`rank`](rank::diversity::rank), [`reason`](rank::explain::reason) and
//! [`Budget`](summary::budget::Budget) follow.
//! Documents are `u32` ordinals and authors opaque `u32`: agents, transport and storage are unknown here.

pub mod analyze;
pub mod detect;
pub mod embed;
pub mod index;
pub mod limits;
pub mod rank;
pub mod summary;
pub mod text;

pub use analyze::{Analyzed, analyze, analyze_with};
pub use detect::{Claim, Detector, Disagreement, ExplicitOnly, Method};
pub use embed::embedding::Embedding;
pub use embed::{EmbedError, Embedder};
pub use index::around::Neighbours;
pub use index::lexical::{Hit, Lexical};
pub use index::newest::Newest;
pub use index::search_index::Index;
pub use index::seen::Seen;
pub use index::stored::IndexError;
pub use index::vectors::{Probe, Space, Vectors};
pub use index::word_search::WordSearch;
pub use rank::coverage::coverage;
pub use rank::query::Query;
pub use rank::weights::{WeightError, WeightSets, Weights};
pub use summary::summarizer::{Summarizer, SummarizerError};
