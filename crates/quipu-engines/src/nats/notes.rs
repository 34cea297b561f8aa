//! Notes: one stream for all of them with a subject each, of which only the last message is kept. The sequence of
//! that message is the version of the note.

use std::time::Duration;

use async_nats::{Client, HeaderMap};
use bytes::Bytes;
use quipu_log::{EngineError, Note, engine::check_note};
use quipu_wire::json::base64;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::api::{self, ApiError, NO_MESSAGE, NO_STREAM, WRONG_LAST_SEQUENCE, io, unavailable};

/// How often a request that no server receives is repeated, and the pause in between.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);

const STREAM: &str = "QUIPUNOTES";
const SUBJECTS: &str = "quipu_notes";

pub(super) async fn get(client: &Client, name: &str) -> Result<Option<Note>, EngineError> {
    // Read from the leader, so that everybody sees a note that was written.
    let wanted = json!({ "last_by_subj": format!("{SUBJECTS}.{name}") });
    let what = format!("STREAM.MSG.GET.{STREAM}");
    let answer = match api::ask(client, &what, &wanted).await {
        Ok(answer) => answer,
        Err(error) if matches!(error.code(), NO_STREAM | NO_MESSAGE) => return Ok(None),
        Err(error) => return Err(error.explain("read a note")),
    };
    let version = answer.pointer("/message/seq").and_then(Value::as_u64);
    // An empty note has no `data`.
    let data = answer.pointer("/message/data").and_then(Value::as_str).unwrap_or_default();
    match (version, base64::decode(data)) {
        (Some(version), Some(bytes)) => Ok(Some(Note { version, bytes })),
        _ => Err(io("read a note", "the server's answer holds none")),
    }
}

pub(super) async fn put(
    client: &Client,
    replicas: usize,
    name: &str,
    expected: u64,
    bytes: Vec<u8>,
) -> Result<Option<u64>, EngineError> {
    check_note(name, &bytes)?;
    if expected == 0 {
        create(client, replicas).await.map_err(|e| unavailable("make the stream of notes", e))?;
    }
    let mut headers = HeaderMap::new();
    headers.insert("Nats-Expected-Last-Subject-Sequence", expected.to_string());
    let subject = format!("{SUBJECTS}.{name}");
    let bytes = Bytes::from(bytes);
    let send = || api::publish(client, subject.clone(), headers.clone(), bytes.clone());
    match until_received(send).await {
        Ok(ack) => match ack.get("seq").and_then(Value::as_u64) {
            Some(version) => Ok(Some(version)),
            None => Err(io("write a note", "the acknowledgement names no sequence")),
        },
        Err(error) if error.code() == WRONG_LAST_SEQUENCE => {
            overtaken(client, name, expected).await
        }
        Err(ApiError::Refused(refused)) if refused.is_full() => Err(EngineError::Full),
        Err(ApiError::Refused(refused)) => Err(unavailable("write a note", refused)),
        Err(lost) => Err(io("write a note", lost)),
    }
}

/// Waits until the newer note can be read: the leader already counts messages that are still being replicated.
async fn overtaken(client: &Client, name: &str, expected: u64) -> Result<Option<u64>, EngineError> {
    for _ in 0..TRIES {
        if get(client, name).await?.map_or(0, |note| note.version) != expected {
            return Ok(None);
        }
        sleep(PAUSE).await;
    }
    Err(unavailable("write a note", "another one was on its way and never came"))
}

/// Repeats a request until a server receives it: a stream that another node is creating has no leader for a moment. A
/// request that no server received had no effect, so it may be sent again.
async fn until_received<F: Future<Output = Result<Value, ApiError>>>(
    mut send: impl FnMut() -> F,
) -> Result<Value, ApiError> {
    for _ in 1..TRIES {
        match send().await {
            Err(error) if error.is_unheard() => sleep(PAUSE).await,
            answer => return answer,
        }
    }
    send().await
}

async fn create(client: &Client, replicas: usize) -> Result<(), ApiError> {
    let settings = json!({
        "name": STREAM,
        "subjects": [format!("{SUBJECTS}.*")],
        "retention": "limits",
        "storage": "file",
        "discard": "old",
        "num_replicas": replicas,
        "max_msgs_per_subject": 1,
    });
    match api::call(client, &format!("STREAM.CREATE.{STREAM}"), &settings).await {
        Err(error) if error.code() != api::NAME_IN_USE => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}
