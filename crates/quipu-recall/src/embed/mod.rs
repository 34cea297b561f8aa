//! Text to vectors. One trait, [`Embedder`]; which model stands behind it is decided where a Field
//! is opened. Vectors are approximate: they rank and name candidates, and never enter a log.

mod embedder;

pub use embedder::{EmbedError, Embedder};
