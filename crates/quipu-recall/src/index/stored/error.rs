//! Owns why stored bytes are not an index.

use std::io;

use super::index::VERSION;

/// Why stored bytes are not an index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The source failed, or ended too early.
    #[error("cannot read the index")]
    Read(#[source] io::Error),
    /// The bytes do not begin as an index does.
    #[error("not an index: starts with {found:02x?}")]
    Foreign {
        /// The first bytes.
        found: [u8; 8],
    },
    /// Written in a format that this code does not know.
    #[error("index format {found} is not supported, only {VERSION}")]
    Version {
        /// The format's number.
        found: u32,
    },
    /// A block could not be decoded.
    #[error("undecodable {part} in the index")]
    Block {
        /// Which block.
        part: &'static str,
        /// What the decoder said.
        #[source]
        source: postcard::Error,
    },
    /// Its vectors were made by another model than the one in this binary.
    #[error("the index has vectors of {found}")]
    Model {
        /// The model's id.
        found: String,
    },
    /// The parts contradict each other.
    #[error("inconsistent index: {0}")]
    Inconsistent(&'static str),
}
