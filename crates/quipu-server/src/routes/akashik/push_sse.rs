//! Server-sent events: a response body that asks for its next part when the connection has room for
//! it. No task and no buffer of its own.

use std::{
    convert::Infallible,
    io::Write,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::{Bytes, HttpBody};
use hyper::body::Frame;
use quipu_field::{
    FieldError,
    push::{Delivery, End},
};
use quipu_wire::akashik::PushNotification;
use tokio::time::{Sleep, sleep};

use super::push::{Admitted, stopped};
use crate::pipeline::auth::revoked;

/// Bytes for which there is room at first in one event.
const EVENT_BYTES: usize = 1024;

/// The body of a stream of events.
pub(super) struct Events {
    /// What is said first.
    opening: Option<Bytes>,
    /// What the parts come from; gone when there will be none.
    source: Option<Source>,
}

/// What the parts come from.
struct Source {
    admitted: Admitted,
    /// Made once: who waits for it again at every part pays for it at every part.
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Likewise.
    revoked: Pin<Box<dyn Future<Output = ()> + Send>>,
    heartbeat: Pin<Box<Sleep>>,
}

impl Events {
    pub(super) fn new(admitted: Admitted) -> Self {
        let opening = format!("retry: 1000\nid: {}\n\n", admitted.cursor());
        let mut stopping = admitted.stopping.clone();
        let stopped = Box::pin(async move { stopped(&mut stopping).await });
        let (mut keys, proof) = (admitted.keys.clone(), admitted.proof.clone());
        let revoked = Box::pin(async move { revoked(&mut keys, || proof.holds()).await });
        let heartbeat = Box::pin(sleep(admitted.heartbeat()));
        let source = Source { admitted, stopped, revoked, heartbeat };
        Self { opening: Some(opening.into()), source: Some(source) }
    }
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(opening) = self.opening.take() {
            return Poll::Ready(Some(Ok(Frame::data(opening))));
        }
        let Some(source) = &mut self.source else { return Poll::Ready(None) };
        let part = match ready!(source.poll_part(cx)) {
            Ok(part) => part,
            Err(reason) => {
                let end = source.end(reason);
                self.source = None;
                end
            }
        };
        Poll::Ready(Some(Ok(Frame::data(part))))
    }
}

impl Source {
    /// The next part, or why there is none. The heartbeat goes before what is to be told: a key that was revoked ends
    /// also a stream that never rests.
    fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, &'static str>> {
        if self.stopped.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err("shutdown"));
        }
        if self.revoked.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err("unauthenticated"));
        }
        if self.heartbeat.as_mut().poll(cx).is_ready() {
            if !self.admitted.proof.holds() {
                return Poll::Ready(Err("unauthenticated"));
            }
            self.heartbeat.as_mut().set(sleep(self.admitted.heartbeat()));
            let beat = format!(": heartbeat\nid: {}\n\n", self.admitted.cursor());
            return Poll::Ready(Ok(beat.into()));
        }
        let next = ready!(self.admitted.stream.poll_next(cx));
        Poll::Ready(match next {
            Ok(Delivery::Push(push)) => Ok(event(&push)),
            Ok(Delivery::End(End::Unsubscribed)) => Err("unsubscribed"),
            Ok(Delivery::End(End::Closed)) => Err("shutdown"),
            Err(error) => Err(failed(&error)),
        })
    }

    fn end(&self, reason: &str) -> Bytes {
        let cursor = self.admitted.cursor();
        let data = serde_json::json!({"reason": reason, "cursor": cursor});
        Bytes::from(format!("event: end\nid: {cursor}\ndata: {data}\n\n"))
    }
}

/// What is said of a failure: the log has the rest.
pub(super) fn failed(error: &FieldError) -> &'static str {
    tracing::error!(%error, "a stream of pushes failed");
    "failed"
}

fn event(push: &PushNotification) -> Bytes {
    let mut text = Vec::with_capacity(EVENT_BYTES);
    // Memory takes everything that is written; texts, numbers and booleans always have a JSON form, and JSON is one
    // line.
    write!(text, "id: {}\nevent: {}\ndata: ", push.cursor, push.event).ok();
    serde_json::to_writer(&mut text, push).ok();
    text.extend(b"\n\n");
    Bytes::from(text)
}
