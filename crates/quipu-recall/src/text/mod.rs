//! A text taken apart: sentences, words, stems, tokens.

pub mod analyze;
pub(crate) mod sentences;
pub(crate) mod stem;
pub mod tokens;
pub(crate) mod words;
