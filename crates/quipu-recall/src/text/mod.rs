//! A text taken apart: sentences, words, stems, tokens.

mod full_stops;
pub(crate) mod months;
pub(crate) mod sentences;
pub(crate) mod standing;
pub(crate) mod stem;
pub mod tokens;
pub(crate) mod words;
