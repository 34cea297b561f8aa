//! Commits: drafts, their sealed headers, and the stored form that is verified.

pub(crate) mod bodies;
mod damage;
mod draft;
mod header;
mod salt;
mod stored;
#[cfg(test)]
mod tests;

pub use damage::{Damage, DamageKind};
pub use draft::{Body, Draft, DraftEvent, SealError};
pub use header::{HEADER_VERSION, Header, SealedEvent};
pub use salt::{ParseSaltError, Salt};
pub use stored::{
    BodyContent, CheckedHeader, Commit, Head, StoredBodies, StoredBody, StoredHeader, decode_body,
};
