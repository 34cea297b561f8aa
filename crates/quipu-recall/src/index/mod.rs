//! What can be found, by words and by meaning.

pub mod around;
pub(crate) mod bits;
pub(crate) mod codes;
pub mod lexical;
pub(crate) mod newest;
pub(crate) mod postings;
pub mod search_index;
pub(crate) mod seen;
pub(crate) mod stored;
pub(crate) mod top;
pub mod vectors;
pub mod word_search;
