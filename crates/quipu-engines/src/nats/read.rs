//! Reads messages as commits, from any replica of the stream. A replica that is behind is asked again.

use std::time::Duration;

use async_nats::Client;
use quipu_log::{Commit, Damage, EngineError, Head, engine::READ_BYTES_MAX};
use tokio::time::sleep;

use super::{
    api::{self, StoredMessage, messages},
    locate::{GroupSpan, Groups},
    message::{GroupMark, Kind, Reader},
    stream::Stream,
    tail::Tail,
};

/// The most messages of one request.
const MESSAGES: usize = 1024;
/// The most bytes of one request.
const BYTES: usize = 4 * 1024 * 1024;
/// How often a replica that is behind is asked again, and the pause in between, which is short at first.
const READ_TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Which part of each commit is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Everything,
    /// Only headers. All bodies are returned as erased.
    Headers,
}

/// The next message of a subject from a sequence on, which must exist.
pub(super) async fn next(
    client: &Client,
    stream: &Stream,
    subject: &str,
    from: u64,
) -> Result<Option<StoredMessage>, EngineError> {
    Ok(some(client, stream, subject, from, 1).await?.into_iter().next())
}

/// The message at a sequence; `None` if it was deleted. A message must exist there or after it.
pub(super) async fn one(
    client: &Client,
    stream: &Stream,
    sequence: u64,
) -> Result<Option<StoredMessage>, EngineError> {
    let found = next(client, stream, &stream.everything(), sequence).await?;
    Ok(found.filter(|message| message.sequence == sequence))
}

/// Messages of a subject from a sequence on, without gaps. At least one must exist: a replica that returns none is
/// behind.
pub(super) async fn some(
    client: &Client,
    stream: &Stream,
    subject: &str,
    from: u64,
    limit: usize,
) -> Result<Vec<StoredMessage>, EngineError> {
    for ask in 0..READ_TRIES {
        let found = messages(client, &stream.name, subject, from, limit, BYTES).await;
        let found = found.map_err(|e| e.explain("read"))?;
        if !found.is_empty() {
            return Ok(found);
        }
        if ask + 1 < READ_TRIES {
            sleep((FIRST_PAUSE * (ask + 1)).min(PAUSE)).await;
        }
    }
    Err(api::io("read", "no copy of the stream has what was acknowledged"))
}

/// The head after the last commit of a group.
pub(super) async fn head_in_group(
    client: &Client,
    stream: &Stream,
    sequence: u64,
) -> Result<Head, EngineError> {
    let unreadable =
        || EngineError::from(Damage::storage("the last group of the stream cannot be read"));
    let last = one(client, stream, sequence).await?.ok_or_else(unreadable)?;
    let mark = GroupMark::of(&last).ok_or_else(unreadable)?;
    let mut reader = Reader::default();
    for part in 0..mark.parts {
        let at = sequence - u64::from(mark.parts - 1 - part);
        let message =
            if at == sequence { Some(last.clone()) } else { one(client, stream, at).await? };
        if let Some(commit) = reader.take(&message.ok_or_else(unreadable)?)?.pop() {
            return Ok(commit.head());
        }
    }
    Err(unreadable())
}

/// The commits from `from` on, at most `limit`, up to the head of `tail`.
pub(super) async fn page(
    client: &Client,
    stream: &Stream,
    groups: &Groups,
    tail: &Tail,
    from: u64,
    limit: usize,
    extent: Extent,
) -> Result<Vec<Commit>, EngineError> {
    let from = from.max(1);
    if from > tail.head.position || limit == 0 {
        return Ok(Vec::new());
    }
    let group = groups.locate(client, stream, from, tail).await?;
    let subject = match extent {
        Extent::Everything => stream.everything(),
        Extent::Headers => stream.subject(Kind::Group),
    };
    let mut reader = Reader::default();
    let mut page: Vec<Commit> = Vec::new();
    let (mut next, mut bytes) = (group.start(), 0);
    while next <= tail.group {
        let wanted = match group.last.saturating_sub(from) + 1 >= as_u64(limit) {
            // If the page is known to end with this group, no message after it is requested.
            true if next <= group.sequence => {
                usize::try_from(group.sequence - next + 1).unwrap_or(MESSAGES)
            }
            _ => likely(limit - page.len()),
        };
        let wanted = wanted.min(MESSAGES);
        let found = some(client, stream, &subject, next, wanted).await?;
        for message in &found {
            next = message.sequence + 1;
            let commits = reader.take(message)?;
            if let (Some(mark), false) = (GroupMark::of(message), commits.is_empty()) {
                groups.note(GroupSpan::new(mark, message.sequence));
            }
            for commit in commits.into_iter().filter(|commit| commit.position >= from) {
                if page.len() == limit || bytes >= READ_BYTES_MAX {
                    return Ok(page);
                }
                bytes += commit.stored_bytes();
                page.push(commit);
            }
        }
        if page.len() == limit {
            return Ok(page);
        }
    }
    Ok(page)
}

/// An estimate of the messages that this many commits take: one text each, and a group for some of them. If they take
/// more, the rest is requested afterwards; messages requested in vain are transferred all the same.
const fn likely(commits: usize) -> usize {
    commits.saturating_add(commits / 8 + 8)
}

fn as_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
