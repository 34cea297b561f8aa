//! Encodes a batch as messages, and decodes messages to commits.
//!
//! ```text
//! body     Quipu-Body: POSITION EVENT SALT PART PARTS      the text, or a part of it
//! group    Quipu-Group: FIRST LAST SPAN PART PARTS         "HASH HEADER\n" for each commit, or a part of it
//! ```
//! SPAN counts the messages of the append up to and including this one: those directly before it belong to it.

use std::collections::BTreeMap;

use async_nats::HeaderMap;
use bytes::Bytes;
use quipu_log::{Body, BodyContent, Commit, Damage, DamageKind, EngineError, Header, StoredBody};
use quipu_wire::hash::Hash;
use serde::de::IgnoredAny;

use super::api::StoredMessage;

/// The most bytes of text in one message. By default servers accept a mebibyte.
pub(super) const PART_BYTES: usize = 512 * 1024;

const BODY: &str = "Quipu-Body";
const GROUP: &str = "Quipu-Group";

#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub(super) kind: Kind,
    pub(super) headers: HeaderMap,
    pub(super) payload: Bytes,
}

/// The kind of a message, which is the last token of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Body,
    Group,
    Fence,
    Seal,
}

impl Kind {
    pub(super) const fn token(self) -> &'static str {
        match self {
            Self::Body => "b",
            Self::Group => "h",
            Self::Fence => "f",
            Self::Seal => "s",
        }
    }
}

/// A group, as the header of its message states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupMark {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) span: u64,
    pub(super) part: u32,
    pub(super) parts: u32,
}

/// A body, as the header of its message states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BodyMark {
    pub(super) position: u64,
    pub(super) event: u32,
    pub(super) salt: String,
    pub(super) part: u32,
    pub(super) parts: u32,
}

/// The messages of a batch: first the bodies, then the group with all headers. None of it counts until the group's
/// last part is stored.
pub(super) fn encode(batch: &[Commit]) -> Result<Vec<Outgoing>, EngineError> {
    let mut messages = Vec::new();
    let mut group = Vec::new();
    for commit in batch {
        if !is_one_line(&commit.header) {
            let reason = "its header is not one line of UTF-8".to_owned();
            return Err(EngineError::InvalidBatch { position: commit.position, reason });
        }
        encode_bodies(commit, &mut messages);
        group.extend_from_slice(commit.hash.to_string().as_bytes());
        group.push(b' ');
        group.extend_from_slice(&commit.header);
        group.push(b'\n');
    }
    let at = |commit: Option<&Commit>| commit.map_or(0, |commit| commit.position);
    let (first, last) = (at(batch.first()), at(batch.last()));
    let parts = group.chunks(PART_BYTES).len();
    for (part, chunk) in group.chunks(PART_BYTES).enumerate() {
        let mark = format!("{first} {last} {} {part} {parts}", messages.len() + 1);
        messages.push(outgoing(Kind::Group, GROUP, &mark, chunk));
    }
    Ok(messages)
}

fn is_one_line(header: &[u8]) -> bool {
    std::str::from_utf8(header).is_ok() && !header.contains(&b'\n')
}

fn encode_bodies(commit: &Commit, messages: &mut Vec<Outgoing>) {
    for stored in &commit.bodies {
        // An erased body has no message; a missing message is what erased means in this engine.
        let BodyContent::Present(Body { salt, json }) = &stored.content else { continue };
        let parts = json.chunks(PART_BYTES).len();
        for (part, chunk) in json.chunks(PART_BYTES).enumerate() {
            let mark = format!("{} {} {salt} {part} {parts}", commit.position, stored.event);
            messages.push(outgoing(Kind::Body, BODY, &mark, chunk));
        }
    }
}

fn outgoing(kind: Kind, name: &str, mark: &str, payload: &[u8]) -> Outgoing {
    let mut headers = HeaderMap::new();
    headers.insert(name, mark);
    Outgoing { kind, headers, payload: Bytes::copy_from_slice(payload) }
}

impl GroupMark {
    pub(super) fn of(message: &StoredMessage) -> Option<Self> {
        Self::in_headers(&message.headers)
    }

    pub(super) fn in_headers(headers: &HeaderMap) -> Option<Self> {
        let mut words = headers.get(GROUP)?.as_str().split(' ');
        let mut next = || words.next()?.parse::<u64>().ok();
        let (first, last, span) = (next()?, next()?, next()?);
        let (part, parts) = (u32::try_from(next()?).ok()?, u32::try_from(next()?).ok()?);
        Some(Self { first, last, span, part, parts })
    }

    pub(super) const fn is_last_part(&self) -> bool {
        self.part + 1 == self.parts
    }
}

impl BodyMark {
    pub(super) fn of(message: &StoredMessage) -> Option<Self> {
        let mut words = message.headers.get(BODY)?.as_str().split(' ');
        let (position, event) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let salt = words.next()?.to_owned();
        let (part, parts) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Self { position, event, salt, part, parts })
    }
}

/// A message of a body: its sequence, its mark and its text.
type BodyPart = (u64, BodyMark, Bytes);

#[derive(Debug, Default)]
pub(super) struct Reader {
    bodies: BTreeMap<(u64, u32), Vec<BodyPart>>,
    headers: Vec<u8>,
}

impl Reader {
    /// Takes the next message and returns the commits that it completes.
    pub(super) fn take(&mut self, message: &StoredMessage) -> Result<Vec<Commit>, Damage> {
        if let Some(mark) = BodyMark::of(message) {
            let parts = self.bodies.entry((mark.position, mark.event)).or_default();
            parts.push((message.sequence, mark, message.payload.clone()));
            return Ok(Vec::new());
        }
        let Some(mark) = GroupMark::of(message) else { return Ok(Vec::new()) };
        if mark.part == 0 {
            self.headers.clear();
        }
        self.headers.extend_from_slice(&message.payload);
        if !mark.is_last_part() {
            return Ok(Vec::new());
        }
        // Messages further back are left over from an append that never happened.
        let before = message.sequence.saturating_sub(mark.span);
        for parts in self.bodies.values_mut() {
            parts.retain(|(sequence, _, _)| *sequence > before);
        }
        let lines = std::mem::take(&mut self.headers);
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let commits = lines.map(|line| self.commit(mark.first, line)).collect();
        self.bodies.clear();
        commits
    }

    fn commit(&mut self, first: u64, line: &[u8]) -> Result<Commit, Damage> {
        let wrong = |reason: String| Damage::new(first, DamageKind::HeaderUnreadable(reason));
        let (hash, json) = line.split_at_checked(64).ok_or_else(|| wrong("too short".into()))?;
        let hash = std::str::from_utf8(hash).ok().and_then(|hash| hash.parse::<Hash>().ok());
        let hash = hash.ok_or_else(|| wrong("it does not begin with a hash".into()))?;
        let json =
            json.strip_prefix(b" ").ok_or_else(|| wrong("no space after its hash".into()))?;
        let header: Header<IgnoredAny> =
            serde_json::from_slice(json).map_err(|e| wrong(e.to_string()))?;
        let mut bodies = Vec::new();
        for (event, sealed) in (0_u32..).zip(&header.events) {
            let parts = self.bodies.remove(&(header.position, event));
            let content = match parts.filter(|parts| !parts.is_empty()) {
                Some(parts) => whole(&parts),
                // The header commits to a body and its message is gone: it was erased.
                None => sealed.body.map(|_| BodyContent::Erased),
            };
            bodies.extend(content.map(|content| StoredBody { event, content }));
        }
        let Header { position, epoch, prev, .. } = header;
        Ok(Commit { position, epoch, prev, hash, header: json.into(), bodies })
    }
}

/// A body without one of its parts is erased: parts are deleted one after the other.
fn whole(parts: &[BodyPart]) -> Option<BodyContent> {
    let mark = &parts.first()?.1;
    let is_whole = usize::try_from(mark.parts).ok() == Some(parts.len());
    let salt = mark.salt.parse().ok().filter(|_| is_whole);
    let Some(salt) = salt else { return Some(BodyContent::Erased) };
    let json = parts.iter().flat_map(|(_, _, chunk)| chunk.iter().copied()).collect();
    Some(BodyContent::Present(Body { salt, json }))
}
