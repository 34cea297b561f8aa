//! The JetStream requests that this engine needs, as JSON over the plain client. Decides nothing.

use std::time::Duration;

use async_nats::{Client, HeaderMap, Message, Request, RequestError, RequestErrorKind};
use bytes::Bytes;
use futures_util::StreamExt;
use quipu_log::EngineError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::open_error::Cause;

/// How long a request may take before its outcome counts as unknown.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait for an answer before the request is repeated, at first and at the most. Servers that are electing
/// a leader do not answer, and forget the request.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(6);
/// For how long a request is repeated, and the pause before each repetition. Servers that were all started anew elect a
/// leader of their own and then one of the stream; each takes up to 9 s, and longer where votes are split.
const REPEAT_FOR: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);

pub(super) const NO_STREAM: u64 = 10_059;
pub(super) const NO_MESSAGE: u64 = 10_037;
pub(super) const WRONG_LAST_SEQUENCE: u64 = 10_071;
/// The same, while the last message is still being replicated to the other servers.
const WRONG_LAST_SEQUENCE_ON_ITS_WAY: u64 = 10_164;
pub(super) const NAME_IN_USE: u64 = 10_058;
/// The stream, or the cluster, has no leader at the moment.
const NO_LEADER: u64 = 10_008;
/// The codes for a lack of storage.
const NO_ROOM: [u64; 3] = [10_023, 10_047, 10_077];

#[derive(Debug, Clone, Deserialize, thiserror::Error)]
#[error("{description} ({err_code})")]
pub(super) struct Refused {
    #[serde(default)]
    pub(super) err_code: u64,
    #[serde(default)]
    pub(super) code: u64,
    #[serde(default)]
    description: String,
}

impl Refused {
    pub(super) fn is_full(&self) -> bool {
        NO_ROOM.contains(&self.err_code)
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    /// The server refused the request and did nothing.
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("no answer")]
    Lost(#[source] Cause),
}

impl ApiError {
    pub(super) const fn code(&self) -> u64 {
        match self {
            Self::Refused(refused) => refused.err_code,
            Self::Lost(_) => 0,
        }
    }

    /// Whether no server received the request, as happens for a moment after another node created the stream.
    pub(super) fn is_unheard(&self) -> bool {
        let Self::Lost(cause) = self else { return false };
        cause
            .downcast_ref::<RequestError>()
            .is_some_and(|error| error.kind() == RequestErrorKind::NoResponders)
    }

    /// Whether the same request may succeed in a moment.
    fn may_be_answered_later(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.err_code == NO_LEADER,
            Self::Lost(_) => true,
        }
    }

    /// The engine's error for a request that only reads, or that may be repeated.
    pub(super) fn explain(self, action: &str) -> EngineError {
        if let Self::Refused(refused) = &self
            && refused.is_full()
        {
            return EngineError::Full;
        }
        io(action, self)
    }
}

pub(super) fn io(action: &str, source: impl Into<Cause>) -> EngineError {
    EngineError::Io { action: format!("{action} in the stream"), source: source.into() }
}

pub(super) fn unavailable(action: &str, source: impl Into<Cause>) -> EngineError {
    EngineError::Unavailable { action: format!("{action} in the stream"), source: source.into() }
}

#[derive(Debug, Clone)]
pub(super) struct StoredMessage {
    pub(super) sequence: u64,
    pub(super) headers: HeaderMap,
    pub(super) payload: Bytes,
}

/// Sends an API request that changes something and reads its answer.
pub(super) async fn call(client: &Client, what: &str, payload: &Value) -> Result<Value, ApiError> {
    call_within(client, what, payload, PATIENCE).await
}

/// Sends an API request that only reads, and repeats it if no answer comes.
pub(super) async fn ask(client: &Client, what: &str, payload: &Value) -> Result<Value, ApiError> {
    again(|wait| call_within(client, what, payload, wait)).await
}

async fn call_within(
    client: &Client,
    what: &str,
    payload: &Value,
    wait: Duration,
) -> Result<Value, ApiError> {
    let request = Request::new().payload(payload.to_string().into()).timeout(Some(wait));
    let answer = client.send_request(format!("$JS.API.{what}"), request).await;
    read_answer(&answer.map_err(|e| ApiError::Lost(e.into()))?.payload)
}

/// Repeats a request until it is answered or the time is up. Only for requests that change nothing.
async fn again<T, F: Future<Output = Result<T, ApiError>>>(
    mut ask: impl FnMut(Duration) -> F,
) -> Result<T, ApiError> {
    let (end, mut wait) = (Instant::now() + REPEAT_FOR, FIRST_WAIT);
    loop {
        match ask(wait).await {
            Err(error) if error.may_be_answered_later() && Instant::now() < end => {}
            answer => return answer,
        }
        sleep(PAUSE).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Publishes a message and waits for its acknowledgement.
pub(super) async fn publish(
    client: &Client,
    subject: String,
    headers: HeaderMap,
    payload: Bytes,
) -> Result<Value, ApiError> {
    let request = Request::new().headers(headers).payload(payload).timeout(Some(PATIENCE));
    let answer = client.send_request(subject, request).await;
    read_answer(&answer.map_err(|e| ApiError::Lost(e.into()))?.payload)
}

fn read_answer(payload: &[u8]) -> Result<Value, ApiError> {
    let answer: Value = serde_json::from_slice(payload).map_err(|e| ApiError::Lost(e.into()))?;
    match answer.get("error") {
        Some(error) => {
            let mut refused = Refused::deserialize(error).map_err(|e| ApiError::Lost(e.into()))?;
            if refused.err_code == WRONG_LAST_SEQUENCE_ON_ITS_WAY {
                refused.err_code = WRONG_LAST_SEQUENCE;
            }
            Err(refused.into())
        }
        None => Ok(answer),
    }
}

/// The sequence of the last message of a subject, as the stream's leader knows it.
pub(super) async fn last_of(
    client: &Client,
    stream: &str,
    subject: &str,
) -> Result<Option<u64>, ApiError> {
    let wanted = json!({ "last_by_subj": subject });
    match ask(client, &format!("STREAM.MSG.GET.{stream}"), &wanted).await {
        Ok(answer) => Ok(answer.pointer("/message/seq").and_then(Value::as_u64)),
        Err(error) if error.code() == NO_MESSAGE => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads messages of a subject from a sequence on, from any replica of the stream: at most `limit`, and no more once
/// they are larger than `bytes`. A replica that is behind returns fewer.
pub(super) async fn messages(
    client: &Client,
    stream: &str,
    subject: &str,
    from: u64,
    limit: usize,
    bytes: usize,
) -> Result<Vec<StoredMessage>, ApiError> {
    let wanted =
        json!({ "seq": from, "next_by_subj": subject, "batch": limit, "max_bytes": bytes });
    let wanted = Bytes::from(wanted.to_string());
    again(|wait| messages_within(client, stream, wanted.clone(), wait)).await
}

/// The messages that one replica returns, if it begins to answer within `wait` and does not pause for longer.
async fn messages_within(
    client: &Client,
    stream: &str,
    wanted: Bytes,
    wait: Duration,
) -> Result<Vec<StoredMessage>, ApiError> {
    let lost = |e: Cause| ApiError::Lost(e);
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.map_err(|e| lost(e.into()))?;
    let subject = format!("$JS.API.DIRECT.GET.{stream}");
    let sent = client.publish_with_reply(subject, inbox, wanted).await;
    sent.map_err(|e| lost(e.into()))?;
    let mut messages = Vec::new();
    loop {
        let answer = timeout(wait, answers.next()).await.map_err(|e| lost(e.into()))?;
        let answer = answer.ok_or_else(|| lost("the connection was closed".into()))?;
        match answer.status.map(|status| status.as_u16()) {
            None | Some(200) => messages.push(
                stored(answer).ok_or_else(|| lost("a message does not say which it is".into()))?,
            ),
            // 204 ends a batch, 404 means that there is no such message.
            Some(204 | 404) => return Ok(messages),
            Some(503) => return Err(lost("no server has the stream now".into())),
            Some(other) => return Err(lost(format!("status {other}").into())),
        }
    }
}

fn stored(message: Message) -> Option<StoredMessage> {
    let headers = message.headers?;
    let sequence = headers.get("Nats-Sequence")?.as_str().parse().ok()?;
    Some(StoredMessage { sequence, headers, payload: message.payload })
}
