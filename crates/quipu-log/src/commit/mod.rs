//! Commits: drafts, their sealed headers, and the stored form that is verified.

mod draft;
mod header;
mod stored;
#[cfg(test)]
mod tests;

pub use crate::salt::{ParseSaltError, Salt};
pub use draft::{Body, Draft, DraftEvent, SealError};
pub use header::{HEADER_VERSION, Header, SealedEvent};
pub use stored::{
    BodyContent, CheckedHeader, Commit, Head, StoredBodies, StoredBody, StoredHeader, decode_body,
};
