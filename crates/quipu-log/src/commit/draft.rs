//! Drafts: one operation's result, and how it is sealed into the chain. Time, ids and salts are handed in.

use serde::Serialize;

use quipu_wire::{
    hash::Hash,
    json::canon::{self, CanonError},
};

use super::{
    header::{HEADER_VERSION, Header, SealedEvent},
    stored::{BodyContent, Commit, StoredBody},
};
use crate::commit::Salt;

/// The free text of one event, apart from the header so that it can be erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// Makes the commitment say nothing about the text.
    pub salt: Salt,
    /// Canonical JSON.
    pub json: Vec<u8>,
}

impl Body {
    /// Writes `content` as canonical JSON.
    ///
    /// # Errors
    /// If `content` has no canonical JSON.
    pub fn new<T: Serialize + ?Sized>(salt: Salt, content: &T) -> Result<Self, CanonError> {
        Ok(Self { salt, json: canon::to_vec(content)? })
    }

    /// What the header says of this body: SHA-256 of the salt and then the JSON.
    #[must_use]
    pub fn commitment(&self) -> Hash {
        Hash::of_parts(&[self.salt.as_bytes(), &self.json])
    }
}

/// One operation's result before it has a place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft<E> {
    /// Lamport epoch, shared by all events of the commit.
    pub epoch: u64,
    /// Milliseconds since 1970, as observed by the caller.
    pub time_ms: u64,
    pub actor: String,
    pub session: Option<String>,
    pub request: Option<String>,
    /// One or more events.
    pub events: Vec<DraftEvent<E>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftEvent<E> {
    /// What goes into the header, for ever.
    pub event: E,
    /// What can be erased.
    pub body: Option<Body>,
}

/// Why a draft cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error("commit at position {position} has no events")]
    NoEvents { position: u64 },
    #[error("commit has {events} events, more than can be numbered")]
    TooManyEvents { events: usize },
    #[error("position 0 is before the log")]
    PositionZero,
    #[error("commit header has no canonical form")]
    Canon(#[from] CanonError),
}

impl<E: Serialize> Draft<E> {
    /// Gives the draft its place: after the commit whose hash is `prev`.
    ///
    /// # Errors
    /// If there is no event, too many, or one without canonical JSON.
    pub fn seal(self, position: u64, prev: Hash) -> Result<Commit, SealError> {
        self.seal_with_header(position, prev).map(|(commit, _)| commit)
    }

    /// As [`Draft::seal`], and gives the header too, for a caller that goes on working with its events.
    ///
    /// # Errors
    /// As `seal`.
    pub fn seal_with_header(
        self,
        position: u64,
        prev: Hash,
    ) -> Result<(Commit, Header<E>), SealError> {
        if position == 0 {
            return Err(SealError::PositionZero);
        }
        if self.events.is_empty() {
            return Err(SealError::NoEvents { position });
        }
        let count = self.events.len();
        let mut events = Vec::with_capacity(count);
        let mut bodies = Vec::new();
        for (index, DraftEvent { event, body }) in self.events.into_iter().enumerate() {
            let index =
                u32::try_from(index).map_err(|_| SealError::TooManyEvents { events: count })?;
            events.push(SealedEvent { event, body: body.as_ref().map(Body::commitment) });
            if let Some(body) = body {
                bodies.push(StoredBody { event: index, content: BodyContent::Present(body) });
            }
        }
        let epoch = self.epoch;
        let header = Header {
            v: HEADER_VERSION,
            position,
            epoch,
            time_ms: self.time_ms,
            actor: self.actor,
            session: self.session,
            request: self.request,
            events,
            prev,
        };
        let bytes = canon::to_vec(&header)?.into_boxed_slice();
        let hash = Hash::of(&bytes);
        Ok((Commit { position, epoch, prev, hash, header: bytes, bodies }, header))
    }
}
