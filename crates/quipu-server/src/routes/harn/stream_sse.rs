//! A stream of Events as server-sent events: a response body that asks for its next part when the connection
//! has room for it. Lines end with LF alone, and nothing comes before the first Event but Events.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderValue, Response, header},
};
use hyper::body::Frame;
use quipu_harness::{EventFeed, Fed};
use quipu_wire::harn::{Event, HarnError, HarnErrorCode, HarnErrorResponse, TokenScope};
use tokio::time::{Instant, Sleep, sleep};

use super::streams::Admitted;
use crate::{
    pipeline::{auth::revoked, harn_refusal::HarnRefused},
    routes::akashik::stopped,
};

/// How long a stream that has told nothing keeps silent: a published client takes the first frame for an
/// Event, whatever it is.
const SILENCE: Duration = Duration::from_secs(6);

/// Answers with the stream. A cursor that cannot be used is told in it, and then it ends.
pub(super) async fn answer(
    admitted: Admitted,
    after: Option<String>,
) -> Result<Response<Body>, HarnRefused> {
    let body = match admitted.feed(after.as_deref()).await {
        Ok(feed) => Body::new(Events::new(Source::new(admitted, feed))),
        Err(error) if error.code == HarnErrorCode::CursorExpired => Body::from(failure(error)),
        Err(error) => return Err(error.into()),
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

struct Events {
    /// Computes the next part; gone when there will be none.
    step: Option<Step>,
}

type Step = Pin<Box<dyn Future<Output = (Bytes, Option<Box<Source>>)> + Send>>;

struct Source {
    admitted: Admitted,
    feed: EventFeed,
    heartbeat: Pin<Box<Sleep>>,
    /// Until when to keep silent, unless something was told.
    silent_until: Instant,
}

impl Events {
    fn new(source: Source) -> Self {
        Self { step: Some(Box::pin(Box::new(source).next())) }
    }
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(step) = &mut self.step else { return Poll::Ready(None) };
        let (bytes, source) = ready!(step.as_mut().poll(cx));
        self.step = source.map(|source| Box::pin(source.next()) as Step);
        if bytes.is_empty() {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

impl Source {
    fn new(admitted: Admitted, feed: EventFeed) -> Self {
        let heartbeat = Box::pin(sleep(admitted.heartbeat()));
        Self { admitted, feed, heartbeat, silent_until: Instant::now() + SILENCE }
    }

    /// The next part; an empty one ends the stream.
    async fn next(mut self: Box<Self>) -> (Bytes, Option<Box<Self>>) {
        loop {
            let fed = tokio::select! {
                () = stopped(&mut self.admitted.stopping) => return (Bytes::new(), None),
                () = revoked(&mut self.admitted.keys, || self.admitted.proof.holds()) => {
                    return (failure(ended()), None);
                }
                () = self.heartbeat.as_mut() => None,
                fed = self.feed.next() => Some(fed),
            };
            match fed {
                Some(Ok(Fed::Event(event))) => {
                    self.silent_until = Instant::now();
                    return (frame(&event), Some(self));
                }
                Some(Ok(Fed::Over | Fed::Closed)) => return (Bytes::new(), None),
                Some(Err(error)) => return (failure(error), None),
                None => {
                    if self.admitted.check(TokenScope::EventsRead).await.is_err() {
                        return (failure(ended()), None);
                    }
                    self.heartbeat.as_mut().set(sleep(self.admitted.heartbeat()));
                    if Instant::now() >= self.silent_until {
                        return (Bytes::from_static(b": here\n\n"), Some(self));
                    }
                }
            }
        }
    }
}

/// The credential holds no longer.
pub(super) fn ended() -> HarnError {
    HarnError::new(HarnErrorCode::Unauthenticated, "the credential holds no longer")
}

fn frame(event: &Event) -> Bytes {
    // Texts, numbers and booleans always have a JSON form, and JSON is one line.
    let data = serde_json::to_string(event).unwrap_or_default();
    Bytes::from(format!("id: {}\nevent: {}\ndata: {data}\n\n", event.envelope.id, event.event))
}

/// The last frame where a stream ends badly.
fn failure(error: HarnError) -> Bytes {
    let data = serde_json::to_string(&HarnErrorResponse { error }).unwrap_or_default();
    Bytes::from(format!("event: error\ndata: {data}\n\n"))
}
