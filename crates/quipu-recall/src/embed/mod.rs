//! Text to vectors. One trait, [`Embedder`]; which model stands behind it is decided where a Field
//! is opened. [`builtin`] is always there. Vectors are approximate: they rank and name candidates,
//! and never enter a log.

mod embedder;
pub(crate) mod embedding;
mod letters;
mod pieces;
mod short_words;
mod static_table;
mod token_tree;
mod wordpiece;

pub use embedder::{EmbedError, Embedder};
pub use static_table::{BuiltIn, builtin};
pub use wordpiece::WordPiece;
