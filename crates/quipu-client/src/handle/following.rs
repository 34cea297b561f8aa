//! A stream of server-sent events that goes on where it was after the connection is lost, by the cursor
//! of what came last.

use http_body_util::{BodyExt as _, Limited};
use hyper::{
    HeaderMap, Response,
    header::{HeaderName, HeaderValue},
};
use tokio::time::timeout;

use crate::{
    error::ClientError,
    handle::field::{Field, header_value},
    limits::{ANSWER_BYTES_MAX, SILENCE},
    net::{
        retry::Attempts,
        sse::{SentEvent, SseError, SseReader},
        transport::StreamBody,
    },
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const ACCEPT: HeaderName = hyper::header::ACCEPT;
const END: &str = "end";

#[derive(Debug)]
pub(crate) enum StreamItem {
    Event(SentEvent),
    /// The stream ended in order, with nothing cut off. The next call opens it again.
    End {
        /// Whether it had said nothing at all, not even that it was there.
        silent: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Following {
    field: Field,
    path: String,
    headers: HeaderMap,
    cursor: Option<String>,
    attempts: Attempts,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    body: StreamBody,
    reader: SseReader,
    blocks: u64,
}

impl Following {
    pub(crate) fn new(
        field: Field,
        path: String,
        mut headers: HeaderMap,
        cursor: Option<String>,
    ) -> Self {
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let attempts = field.attempts();
        Self { field, path, headers, cursor, attempts, open: None }
    }

    /// Whether the Field was closed by this process, so that nothing more will come.
    pub(crate) fn is_closed(&self) -> bool {
        self.field.is_closed()
    }

    /// The next event with data, over as many connections as it takes.
    pub(crate) async fn next(&mut self) -> Result<StreamItem, ClientError> {
        loop {
            match self.step().await {
                Ok(Some(heard)) => return Ok(heard),
                Ok(None) => {}
                Err(error) => {
                    self.open = None;
                    self.attempts.pause_after(error).await?;
                }
            }
        }
    }

    /// Waits as after a failure, for the stream was ended although there is more to come.
    pub(crate) async fn pause(&mut self, reason: &str) -> Result<(), ClientError> {
        self.open = None;
        let ended =
            ClientError::broken(self.field.peer_name(), format!("the stream ended: {reason}"));
        self.attempts.pause_after(ended).await
    }

    async fn step(&mut self) -> Result<Option<StreamItem>, ClientError> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        if let Some(event) = open.reader.next().map_err(garbled)? {
            open.blocks += 1;
            let alive = event.event != END && (!event.data.is_empty() || open.blocks > 1);
            self.open = Some(open);
            if alive {
                self.attempts.begin_anew();
            }
            if event.id.is_some() {
                self.cursor.clone_from(&event.id);
            }
            return Ok((!event.data.is_empty()).then_some(StreamItem::Event(event)));
        }
        let silent = |_| ClientError::broken(self.field.peer_name(), "the stream fell silent");
        let frame = match timeout(SILENCE, open.body.frame()).await.map_err(silent)? {
            None => return Ok(Some(StreamItem::End { silent: open.blocks == 0 })),
            Some(frame) => frame.map_err(|e| ClientError::broken(self.field.peer_name(), e))?,
        };
        if let Some(bytes) = frame.data_ref() {
            open.reader.take(bytes);
        }
        self.open = Some(open);
        Ok(None)
    }

    /// By exclusive reference only so that the wait for it may go from thread to thread.
    async fn connect(&mut self) -> Result<Open, ClientError> {
        let mut headers = self.headers.clone();
        if let Some(cursor) = &self.cursor {
            headers.insert(LAST_EVENT_ID, header_value("the cursor", cursor)?);
        }
        let answer = self.field.stream(&self.path, &headers).await?;
        if !answer.status().is_success() {
            return Err(refused(&self.field, answer).await);
        }
        Ok(Open { body: answer.into_body(), reader: SseReader::default(), blocks: 0 })
    }
}

async fn refused(field: &Field, answer: Response<StreamBody>) -> ClientError {
    let (parts, body) = answer.into_parts();
    match timeout(SILENCE, Limited::new(body, ANSWER_BYTES_MAX).collect()).await {
        Ok(Ok(body)) => ClientError::refused(parts.status, &parts.headers, body.to_bytes()),
        Ok(Err(error)) => ClientError::broken(field.peer_name(), error),
        Err(_) => ClientError::broken(field.peer_name(), "the refusal was not finished"),
    }
}

fn garbled(error: SseError) -> ClientError {
    ClientError::unexpected(hyper::StatusCode::OK, error, b"")
}
