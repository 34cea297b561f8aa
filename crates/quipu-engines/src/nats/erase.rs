//! Erasing bodies, sealing a field and opening it again.

use std::collections::{BTreeMap, BTreeSet};

use async_nats::Client;
use quipu_log::{BodyAddress, EngineError, Erasure, Head};
use serde_json::json;

use super::{
    api::{self, WRONG_LAST_SEQUENCE},
    append::publish_alone,
    engine::FieldState,
    locate::GroupSpan,
    message::{BodyMark, Kind},
    read::some,
    tail::{self, Tail},
};

/// The message is already deleted, as one server reports it, and as several do if two delete it at the same time.
const GONE: [u64; 2] = [10_057, 10_043];
/// How many messages one request reads.
const MESSAGES: usize = 256;
/// How often a seal reads the tail again because the log grew.
const TRIES: usize = 64;

pub(super) async fn erase(
    client: &Client,
    state: &FieldState,
    tail: &Tail,
    addresses: &[BodyAddress],
) -> Result<Erasure, EngineError> {
    let mut by_group: BTreeMap<u64, (GroupSpan, BTreeSet<(u64, u32)>)> = BTreeMap::new();
    for address in addresses {
        if (1..=tail.head.position).contains(&address.position) {
            let group = state.groups.locate(client, &state.stream, address.position, tail).await?;
            let entry = by_group.entry(group.sequence).or_insert((group, BTreeSet::new()));
            entry.1.insert((address.position, address.event));
        }
    }
    let mut erasure = Erasure::default();
    for (group, wanted) in by_group.into_values() {
        erase_in(client, state, group, &wanted, &mut erasure).await?;
    }
    Ok(erasure)
}

async fn erase_in(
    client: &Client,
    state: &FieldState,
    group: GroupSpan,
    wanted: &BTreeSet<(u64, u32)>,
    erasure: &mut Erasure,
) -> Result<(), EngineError> {
    // The range includes the group itself, so a replica that is behind cannot hide a body.
    let everything = state.stream.everything();
    let mut next = group.start();
    while next <= group.sequence {
        let found = some(client, &state.stream, &everything, next, MESSAGES).await?;
        next = found.last().map_or(u64::MAX, |last| last.sequence + 1);
        for message in found.iter().filter(|message| message.sequence < group.sequence) {
            let Some(mark) = BodyMark::of(message) else { continue };
            if !wanted.contains(&(mark.position, mark.event)) {
                continue;
            }
            if delete(client, state, message.sequence).await? {
                erasure.bodies_erased += u64::from(mark.part == 0);
                let bytes = u64::try_from(message.payload.len()).unwrap_or(u64::MAX);
                erasure.bytes_reclaimed += bytes;
            }
        }
    }
    Ok(())
}

/// Erases the messages of an append that never happened, as far as the servers can be reached.
pub(super) async fn sweep(client: &Client, state: &FieldState, after: u64, to: u64) {
    for sequence in after.saturating_add(1)..=to {
        if let Err(error) = delete(client, state, sequence).await {
            tracing::warn!(field = %state.stream.field, %error, "a part of an append that failed is left");
            return;
        }
    }
}

/// Overwrites a message in the stream's files; false if it was already deleted.
async fn delete(client: &Client, state: &FieldState, sequence: u64) -> Result<bool, EngineError> {
    let what = format!("STREAM.MSG.DELETE.{}", state.stream.name);
    match api::call(client, &what, &json!({ "seq": sequence, "no_erase": false })).await {
        Ok(_) => Ok(true),
        Err(error) if GONE.contains(&error.code()) => Ok(false),
        Err(error) => Err(error.explain("erase")),
    }
}

pub(super) async fn seal(client: &Client, state: &FieldState) -> Result<Head, EngineError> {
    for _ in 0..TRIES {
        let tail = tail::find(client, &state.stream, state.remembered_tail()).await?;
        let tail = tail.filter(|tail| tail.head != Head::EMPTY);
        let tail =
            tail.ok_or_else(|| EngineError::UnknownField { field: state.stream.field.clone() })?;
        if tail.sealed {
            return Ok(tail.head);
        }
        match publish_alone(client, state, Kind::Seal, tail.last_sequence).await {
            Ok(_) => {
                state.forget();
                return Ok(tail.head);
            }
            Err(error) if error.code() == WRONG_LAST_SEQUENCE => {}
            Err(error) => return Err(error.explain("seal")),
        }
    }
    Err(api::io("seal", "the log moves faster than it can be sealed"))
}

pub(super) async fn unseal(client: &Client, state: &FieldState) -> Result<Head, EngineError> {
    let stream = &state.stream;
    let tail = tail::find(client, stream, None).await?.filter(|tail| tail.head != Head::EMPTY);
    let tail = tail.ok_or_else(|| EngineError::UnknownField { field: stream.field.clone() })?;
    let subject = stream.subject(Kind::Seal);
    // Two nodes that seal at the same time leave two seals.
    while let Some(seal) =
        api::last_of(client, &stream.name, &subject).await.map_err(|e| e.explain("unseal"))?
    {
        delete(client, state, seal).await?;
    }
    state.forget();
    Ok(tail.head)
}
