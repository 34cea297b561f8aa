//! Owns why stored bytes are not an index.

use std::io;

use super::index::VERSION;

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("cannot read the index")]
    Read(#[source] io::Error),
    #[error("not an index: starts with {found:02x?}")]
    Foreign { found: [u8; 8] },
    #[error("index format {found} is not supported, only {VERSION}")]
    Version {
        /// The format's number.
        found: u32,
    },
    #[error("undecodable {part} in the index")]
    Block {
        part: &'static str,
        #[source]
        source: postcard::Error,
    },
    #[error("the index has vectors of {found}")]
    Model { found: String },
    /// The parts contradict each other.
    #[error("inconsistent index: {0}")]
    Inconsistent(&'static str),
}
