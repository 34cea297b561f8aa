//! One append: an atomic batch, and how its outcome is found out if no answer comes.

use std::time::Duration;

use async_nats::{Client, HeaderMap, connection::State};
use bytes::Bytes;
use quipu_log::{EngineError, Head, engine::not_sealed};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::{
    api::{self, ApiError, WRONG_LAST_SEQUENCE, io, publish, unavailable},
    engine::FieldState,
    erase::sweep,
    locate::GroupSpan,
    message::{Kind, Outgoing},
    read::{self, Extent},
    tail::{self, Tail},
};

/// The default limit of a server for the messages in one atomic batch.
const BATCH: usize = 1000;
/// How often an append reads the tail again because messages other than commits moved the stream: about five seconds.
const TRIES: usize = 64;
/// How long the outcome of an append is sought before it is reported as unknown.
const SETTLE: Duration = Duration::from_secs(10);
/// The first pause between two attempts. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// The longest pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Append {
    pub(super) expected: Head,
    pub(super) end: Head,
    /// Whether the batch belongs to a copy of a log. Only a sealed field takes those.
    pub(super) copied: bool,
    pub(super) messages: Vec<Outgoing>,
}

impl Append {
    /// Writes the batch, or returns why it was not written.
    pub(super) async fn run(
        &self,
        client: &Client,
        state: &FieldState,
        replicas: usize,
    ) -> Result<Head, EngineError> {
        if client.connection_state() != State::Connected {
            return Err(unavailable("append", "no server is connected"));
        }
        let mut pause = FIRST_PAUSE;
        for _ in 0..TRIES {
            let tail = self.tail(client, state, replicas).await.map_err(nothing_sent)?;
            if tail.sealed != self.copied {
                // Sealing and unsealing do not move the head, so the remembered tail could be wrong.
                state.forget();
                if tail.sealed {
                    return Err(EngineError::Sealed { field: state.stream.field.clone() });
                }
                if tail.head != Head::EMPTY {
                    return Err(not_sealed(&state.stream.field, &self.expected));
                }
                self.seal_first(client, state, tail.last_sequence).await?;
                continue;
            }
            if tail.head != self.expected {
                return Err(EngineError::HeadMoved { actual: tail.head });
            }
            match self.send(client, state, tail.last_sequence).await {
                Ok(sequence) => return Ok(self.done(state, sequence)),
                Err((ApiError::Refused(refused), at)) => {
                    state.forget();
                    sweep(client, state, tail.last_sequence, at).await;
                    // The leader already counts messages that are still being replicated. They can be read only after
                    // that.
                    if refused.err_code != WRONG_LAST_SEQUENCE {
                        return Err(if refused.is_full() {
                            EngineError::Full
                        } else {
                            unavailable("append", refused)
                        });
                    }
                }
                Err((lost, at)) => {
                    let unheard = lost.is_unheard();
                    let settled = self.settle(client, state, lost, at).await;
                    let never = matches!(settled, Err(EngineError::Unavailable { .. }));
                    if never {
                        sweep(client, state, tail.last_sequence, at).await;
                    }
                    // For a moment after a stream was created or its leader changed, not every server knows where to
                    // send the request. An append that did not and will never happen may be sent again.
                    if !(never && unheard) {
                        return settled;
                    }
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE);
        }
        Err(unavailable("append", "the stream is moved again and again by something else"))
    }

    fn done(&self, state: &FieldState, sequence: u64) -> Head {
        let span = u64::try_from(self.messages.len()).unwrap_or(u64::MAX);
        let (first, last) = (self.expected.position.saturating_add(1), self.end.position);
        state.groups.note(GroupSpan { first, last, sequence, span });
        state.learn(Tail {
            head: self.end,
            group: sequence,
            last_sequence: sequence,
            sealed: self.copied,
        });
        self.end
    }

    /// Seals a field without commits, so that nobody else writes to the copy.
    async fn seal_first(
        &self,
        client: &Client,
        state: &FieldState,
        last: u64,
    ) -> Result<(), EngineError> {
        match publish_alone(client, state, Kind::Seal, last).await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == WRONG_LAST_SEQUENCE => Ok(()),
            Err(error) => Err(nothing_sent(error.explain("seal"))),
        }
    }

    /// The tail of the log: the remembered one if it is at the expected head. Creates the stream for the first
    /// commit.
    async fn tail(
        &self,
        client: &Client,
        state: &FieldState,
        replicas: usize,
    ) -> Result<Tail, EngineError> {
        let known = state.remembered_tail();
        if let Some(tail) = known.filter(|tail| tail.head == self.expected) {
            return Ok(tail);
        }
        if let Some(tail) = tail::find(client, &state.stream, known).await? {
            state.learn(tail);
            return Ok(tail);
        }
        if self.expected == Head::EMPTY {
            let made = state.stream.create(client, replicas).await;
            made.map_err(|e| e.explain("make a stream"))?;
        }
        Ok(Tail::EMPTY)
    }

    /// Sends the messages that follow sequence `last`. Returns the sequence of the last one or, on failure, the
    /// sequence that the failed part was to follow. An append that exceeds one batch is sent in several, and none of
    /// it counts until the last one is stored.
    async fn send(
        &self,
        client: &Client,
        state: &FieldState,
        last: u64,
    ) -> Result<u64, (ApiError, u64)> {
        let mut last = last;
        for batch in self.messages.chunks(BATCH) {
            last = send_batch(client, state, batch, last).await.map_err(|error| (error, last))?;
        }
        Ok(last)
    }

    /// Finds out whether an unanswered append happened, and makes the result final: a fence takes the very sequence
    /// that the rest of the append would need.
    async fn settle(
        &self,
        client: &Client,
        state: &FieldState,
        lost: ApiError,
        at: u64,
    ) -> Result<Head, EngineError> {
        tracing::warn!(field = %state.stream.field, error = %lost, "the outcome of an append is unknown: asking");
        state.forget();
        let settled = timeout(SETTLE, async {
            loop {
                match self.ask(client, state, at).await {
                    Some(settled) => return settled,
                    None => sleep(PAUSE).await,
                }
            }
        });
        match settled.await {
            Ok(Settled::Committed) => Ok(self.end),
            Ok(Settled::Never) => Err(unavailable("append", lost)),
            Ok(Settled::Moved(actual)) => Err(EngineError::HeadMoved { actual }),
            Err(_) => Err(io("append, and nobody says what became of it", lost)),
        }
    }

    /// One attempt to settle; `None` if the servers do not answer.
    async fn ask(&self, client: &Client, state: &FieldState, at: u64) -> Option<Settled> {
        match publish_alone(client, state, Kind::Fence, at).await {
            Ok(_) => return Some(Settled::Never),
            Err(error) if error.code() == WRONG_LAST_SEQUENCE => {}
            Err(_) => return None,
        }
        let tail = tail::find(client, &state.stream, None).await.ok()??;
        // The message that blocks the fence is still being replicated, and may be this very append.
        if tail.last_sequence <= at {
            return None;
        }
        // The stream has moved on without the append, so the sequence that it was to follow is no longer the last.
        if tail.head == self.expected {
            return Some(Settled::Never);
        }
        if tail.head.position < self.end.position {
            return Some(Settled::Moved(tail.head));
        }
        let groups = &state.groups;
        let (from, extent) = (self.end.position, Extent::Headers);
        let page = read::page(client, &state.stream, groups, &tail, from, 1, extent).await.ok()?;
        let is_ours = page.first().is_some_and(|commit| commit.hash == self.end.hash);
        Some(if is_ours { Settled::Committed } else { Settled::Moved(tail.head) })
    }
}

enum Settled {
    Committed,
    /// It did not happen and never will.
    Never,
    Moved(Head),
}

/// The error for a failure before anything was sent.
fn nothing_sent(error: EngineError) -> EngineError {
    if let EngineError::Io { action, source } = error {
        return EngineError::Unavailable { action, source };
    }
    error
}

async fn send_batch(
    client: &Client,
    state: &FieldState,
    batch: &[Outgoing],
    last: u64,
) -> Result<u64, ApiError> {
    let lost = |e: async_nats::PublishError| ApiError::Lost(e.into());
    let id = client.new_inbox();
    let id = id.rsplit('.').next().unwrap_or(&id);
    let mut ack = None;
    for (at, message) in batch.iter().enumerate() {
        let mut headers = message.headers.clone();
        if at == 0 {
            expect_last(&mut headers, last);
        }
        if batch.len() > 1 {
            headers.insert("Nats-Batch-Id", id);
            headers.insert("Nats-Batch-Sequence", (at + 1).to_string());
        }
        let subject = state.stream.subject(message.kind);
        if at + 1 < batch.len() {
            let payload = message.payload.clone();
            client.publish_with_headers(subject, headers, payload).await.map_err(lost)?;
        } else {
            if batch.len() > 1 {
                headers.insert("Nats-Batch-Commit", "1");
            }
            ack = Some(publish(client, subject, headers, message.payload.clone()).await?);
        }
    }
    sequence_of(ack.as_ref())
}

fn expect_last(headers: &mut HeaderMap, last: u64) {
    headers.insert("Nats-Expected-Last-Sequence", last.to_string());
}

fn sequence_of(ack: Option<&Value>) -> Result<u64, ApiError> {
    let sequence = ack.and_then(|ack| ack.get("seq")).and_then(Value::as_u64);
    sequence.ok_or_else(|| ApiError::Lost("the acknowledgement names no sequence".into()))
}

/// Publishes a message without content after the sequence `last`.
pub(super) async fn publish_alone(
    client: &Client,
    state: &FieldState,
    kind: Kind,
    last: u64,
) -> Result<u64, ApiError> {
    let mut headers = HeaderMap::new();
    expect_last(&mut headers, last);
    let ack = api::publish(client, state.stream.subject(kind), headers, Bytes::new()).await?;
    sequence_of(Some(&ack))
}
