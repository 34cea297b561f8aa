//! The tail of a log: where it ends, as the stream's leader knows it.

use async_nats::Client;
use quipu_log::{EngineError, Head};

use super::{
    api,
    message::{GroupMark, Kind},
    read,
    stream::Stream,
};

/// The end of a log, and the last sequence of its stream at that time. The next append names that sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) head: Head,
    /// The sequence of the head's group; 0 if there is none.
    pub(super) group: u64,
    pub(super) last_sequence: u64,
    pub(super) sealed: bool,
}

impl Tail {
    pub(super) const EMPTY: Self =
        Self { head: Head::EMPTY, group: 0, last_sequence: 0, sealed: false };
}

/// Reads the tail; `None` if the stream does not exist. `known` saves reading a group that was read before.
pub(super) async fn find(
    client: &Client,
    stream: &Stream,
    known: Option<Tail>,
) -> Result<Option<Tail>, EngineError> {
    // In this order: then no group can lie between the last group and the last sequence that was read before it.
    let Some(last_sequence) = stream.last_sequence(client).await? else { return Ok(None) };
    let group = last_group(client, stream, known).await?;
    let seal = api::last_of(client, &stream.name, &stream.subject(Kind::Seal)).await;
    let sealed = seal.map_err(|e| e.explain("look"))?.is_some();
    let head = match known {
        Some(tail) if tail.group == group => tail.head,
        _ if group == 0 => Head::EMPTY,
        _ => read::head_in_group(client, stream, group).await?,
    };
    // A group that was stored in between ends the tail. If more has been stored since, the next append is refused.
    let last_sequence = last_sequence.max(group);
    Ok(Some(Tail { head, group, last_sequence, sealed }))
}

/// The sequence of the last complete group; 0 if there is none.
async fn last_group(
    client: &Client,
    stream: &Stream,
    known: Option<Tail>,
) -> Result<u64, EngineError> {
    let subject = stream.subject(Kind::Group);
    let last = api::last_of(client, &stream.name, &subject).await;
    let Some(mut sequence) = last.map_err(|e| e.explain("look"))? else { return Ok(0) };
    // The last message may be left over from a failed append; then the last complete group is further back.
    while sequence > 0 {
        if known.is_some_and(|tail| tail.group == sequence) {
            return Ok(sequence);
        }
        let message = read::one(client, stream, sequence).await?;
        if message.as_ref().and_then(GroupMark::of).is_some_and(|mark| mark.is_last_part()) {
            return Ok(sequence);
        }
        sequence -= 1;
    }
    Ok(0)
}
