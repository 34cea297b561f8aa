//! Commits as they are stored, and how one is verified. Storing them is the engines' business.

use serde::de::{Deserialize, DeserializeOwned, IgnoredAny};

use quipu_wire::hash::Hash;

use super::{
    draft::Body,
    header::{HEADER_VERSION, Header, SealedEvent},
};
use crate::commit::{Damage, DamageKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Dense, from 1.
    pub position: u64,
    /// Lamport epoch.
    pub epoch: u64,
    /// Hash of the commit before.
    pub prev: Hash,
    /// SHA-256 of `header`.
    pub hash: Hash,
    /// Canonical JSON, written once and hashed for ever.
    pub header: Box<[u8]>,
    pub bodies: Vec<StoredBody>,
}

/// The header of a commit without its bodies, for whoever needs none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHeader {
    /// Dense, from 1.
    pub position: u64,
    pub json: Box<[u8]>,
}

/// The bodies of a commit without its header, for whoever knows that already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBodies {
    /// Dense, from 1.
    pub position: u64,
    pub bodies: Vec<StoredBody>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBody {
    /// The index of the event in its commit.
    pub event: u32,
    pub content: BodyContent,
}

/// A body that is there, or a mark that it was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyContent {
    Present(Body),
    Erased,
}

/// The end of a log: where the next commit must attach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Position of the last commit, 0 if there is none.
    pub position: u64,
    pub epoch: u64,
    pub hash: Hash,
}

impl Head {
    /// The head of a log without commits.
    pub const EMPTY: Self = Self { position: 0, epoch: 0, hash: Hash::ZERO };
}

impl StoredHeader {
    /// Reads the header with the caller's type of event.
    ///
    /// # Errors
    /// As [`Commit::decode_header`].
    pub fn decode<E: DeserializeOwned>(&self) -> Result<Header<E>, Damage> {
        decode_header(self.position, &self.json)
    }

    /// Reads the header and its hash: what can be known of it without the one before.
    #[must_use]
    pub fn check<E: DeserializeOwned>(&self) -> CheckedHeader<E> {
        let (position, hash) = (self.position, Hash::of(&self.json));
        CheckedHeader { position, hash, header: self.decode() }
    }
}

#[derive(Debug)]
pub struct CheckedHeader<E> {
    pub(crate) position: u64,
    hash: Hash,
    header: Result<Header<E>, Damage>,
}

impl<E> CheckedHeader<E> {
    /// The header, and the head that ends with it, if it follows `after`. As much of [`Commit::verify`] as can be said without
    /// the bodies.
    ///
    /// # Errors
    /// The first damage found, see [`DamageKind`].
    pub fn follow(self, after: &Head) -> Result<(Head, Header<E>), Damage> {
        let header = self.header?;
        let expected = after.position.saturating_add(1);
        let kind = if self.position != expected {
            DamageKind::Gap { expected }
        } else if header.position != self.position {
            DamageKind::ColumnMismatch { column: "position" }
        } else if header.prev != after.hash {
            DamageKind::PrevMismatch
        } else if header.epoch <= after.epoch {
            DamageKind::EpochNotIncreasing { epoch: header.epoch, before: after.epoch }
        } else {
            let (position, epoch) = (header.position, header.epoch);
            return Ok((Head { position, epoch, hash: self.hash }, header));
        };
        Err(Damage::new(self.position, kind))
    }
}

impl From<Commit> for StoredHeader {
    fn from(commit: Commit) -> Self {
        Self { position: commit.position, json: commit.header }
    }
}

impl StoredBodies {
    /// The body of an event, if it has one that is not erased.
    #[must_use]
    pub fn body(&self, event: u32) -> Option<&Body> {
        body_of(&self.bodies, event)
    }

    /// About how many bytes they take.
    #[cfg(feature = "sqlite")]
    pub(crate) fn bytes(&self) -> usize {
        bytes_of(&self.bodies)
    }
}

impl From<Commit> for StoredBodies {
    fn from(commit: Commit) -> Self {
        Self { position: commit.position, bodies: commit.bodies }
    }
}

fn body_of(bodies: &[StoredBody], event: u32) -> Option<&Body> {
    bodies.iter().filter(|stored| stored.event == event).find_map(|stored| match &stored.content {
        BodyContent::Present(body) => Some(body),
        BodyContent::Erased => None,
    })
}

fn bytes_of(bodies: &[StoredBody]) -> usize {
    let texts = bodies.iter().map(|stored| match &stored.content {
        BodyContent::Present(body) => body.json.len(),
        BodyContent::Erased => 0,
    });
    texts.sum()
}

fn decode_header<E: DeserializeOwned>(position: u64, json: &[u8]) -> Result<Header<E>, Damage> {
    let unreadable = |reason: String| Damage::new(position, DamageKind::HeaderUnreadable(reason));
    let header: Header<E> = serde_json::from_slice(json).map_err(|e| unreadable(e.to_string()))?;
    if header.v != HEADER_VERSION {
        return Err(unreadable(format!("version {} is not {HEADER_VERSION}", header.v)));
    }
    Ok(header)
}

/// Reads the text of a body with the caller's type.
///
/// # Errors
/// `BodiesUnreadable` if it is not a `T`.
pub fn decode_body<'a, T: Deserialize<'a>>(position: u64, json: &'a [u8]) -> Result<T, Damage> {
    serde_json::from_slice(json)
        .map_err(|e| Damage::new(position, DamageKind::BodiesUnreadable(e.to_string())))
}

impl Commit {
    /// The head of a log that ends with this commit.
    #[must_use]
    pub const fn head(&self) -> Head {
        Head { position: self.position, epoch: self.epoch, hash: self.hash }
    }

    /// About how many bytes the commit takes.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.header.len() + bytes_of(&self.bodies)
    }

    /// Reads the header with the caller's type of event.
    ///
    /// # Errors
    /// `HeaderUnreadable` if it is not a header of this version with events of type `E`.
    pub fn decode_header<E: DeserializeOwned>(&self) -> Result<Header<E>, Damage> {
        decode_header(self.position, &self.header)
    }

    /// The body of an event, if it has one that is not erased.
    #[must_use]
    pub fn body(&self, event: u32) -> Option<&Body> {
        body_of(&self.bodies, event)
    }

    /// Checks that this commit is intact and follows `after`; answers the head that ends with it.
    ///
    /// # Errors
    /// The first damage found, see [`DamageKind`].
    pub fn verify(&self, after: &Head) -> Result<Head, Damage> {
        self.verify_link(after)?;
        self.verify_intact()?;
        self.verify_epoch(after)?;
        Ok(self.head())
    }

    /// The part of `verify` that checks that this commit follows `after`.
    pub(crate) fn verify_link(&self, after: &Head) -> Result<(), Damage> {
        let expected = after.position.saturating_add(1);
        if self.position != expected {
            return Err(Damage::new(self.position, DamageKind::Gap { expected }));
        }
        if self.prev != after.hash {
            return Err(Damage::new(self.position, DamageKind::PrevMismatch));
        }
        Ok(())
    }

    /// The part of `verify` that checks that the epoch is later than the one before.
    pub(crate) fn verify_epoch(&self, after: &Head) -> Result<(), Damage> {
        let (epoch, before) = (self.epoch, after.epoch);
        if epoch > before {
            return Ok(());
        }
        Err(Damage::new(self.position, DamageKind::EpochNotIncreasing { epoch, before }))
    }

    /// The part of `verify` that needs no commit before.
    pub(crate) fn verify_intact(&self) -> Result<(), Damage> {
        let header = self.verify_alone()?;
        self.verify_bodies(&header.events)
    }

    /// Checks the hash, and that the stored columns agree with the header.
    pub(crate) fn verify_alone(&self) -> Result<Header<IgnoredAny>, Damage> {
        let damage = |kind| Err(Damage::new(self.position, kind));
        if Hash::of(&self.header) != self.hash {
            return damage(DamageKind::HashMismatch);
        }
        let header = self.decode_header::<IgnoredAny>()?;
        if header.position != self.position {
            return damage(DamageKind::ColumnMismatch { column: "position" });
        }
        if header.prev != self.prev {
            return damage(DamageKind::ColumnMismatch { column: "prev" });
        }
        if header.epoch != self.epoch {
            return damage(DamageKind::ColumnMismatch { column: "epoch" });
        }
        Ok(header)
    }

    fn verify_bodies(&self, events: &[SealedEvent<IgnoredAny>]) -> Result<(), Damage> {
        let damage = |kind| Err(Damage::new(self.position, kind));
        let mut stored = self.bodies.iter().peekable();
        for (index, sealed) in (0_u32..).zip(events) {
            let here = stored.next_if(|body| body.event == index);
            match (sealed.body, here.map(|body| &body.content)) {
                (None, None) | (Some(_), Some(BodyContent::Erased)) => {}
                (Some(commitment), Some(BodyContent::Present(body))) => {
                    if body.commitment() != commitment {
                        return damage(DamageKind::BodyMismatch { event: index });
                    }
                }
                (Some(_), None) => return damage(DamageKind::BodyMissing { event: index }),
                (None, Some(_)) => return damage(DamageKind::StrayBody { event: index }),
            }
        }
        // Whatever is left belongs to no event, or comes second for one, or stands out of order.
        match stored.next() {
            Some(body) => damage(DamageKind::StrayBody { event: body.event }),
            None => Ok(()),
        }
    }
}
