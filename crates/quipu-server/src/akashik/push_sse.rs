//! Server-sent events: a response body that asks for its next part when the connection has room for
//! it. No task and no buffer of its own.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::{Bytes, HttpBody};
use hyper::body::Frame;
use quipu_field::push::{Delivery, End};
use quipu_wire::{ProtocolError, akashik::PushNotification};
use tokio::time::{Sleep, sleep};

use super::push::{Admitted, stopped};

/// The body of a stream of events.
pub(super) struct Events {
    /// Computes the next part; gone when there will be none.
    step: Option<Step>,
}

type Step = Pin<Box<dyn Future<Output = (Bytes, Option<Source>)> + Send>>;

/// What the parts come from.
struct Source {
    admitted: Admitted,
    heartbeat: Pin<Box<Sleep>>,
}

impl Events {
    pub(super) fn new(admitted: Admitted) -> Self {
        let heartbeat = Box::pin(sleep(admitted.heartbeat()));
        let source = Source { admitted, heartbeat };
        let opening = format!("retry: 1000\nid: {}\n\n", source.admitted.cursor());
        let first = std::future::ready((Bytes::from(opening), Some(source)));
        Self { step: Some(Box::pin(first)) }
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
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

impl Source {
    async fn next(mut self) -> (Bytes, Option<Self>) {
        let part = tokio::select! {
            () = stopped(&mut self.admitted.stopping) => Err("shutdown"),
            () = self.heartbeat.as_mut() => Ok(None),
            next = self.admitted.stream.next() => match next {
                Ok(Delivery::Push(push)) => Ok(Some(push)),
                Ok(Delivery::End(End::Unsubscribed)) => Err("unsubscribed"),
                Ok(Delivery::End(End::Closed)) => Err("shutdown"),
                Err(error) => Err(failed(&error)),
            },
        };
        match part {
            Ok(Some(push)) => (event(&push), Some(self)),
            Ok(None) if self.admitted.is_still_allowed() => {
                self.heartbeat.as_mut().set(sleep(self.admitted.heartbeat()));
                (
                    Bytes::from(format!(": heartbeat\nid: {}\n\n", self.admitted.cursor())),
                    Some(self),
                )
            }
            Ok(None) => (self.end("unauthenticated"), None),
            Err(reason) => (self.end(reason), None),
        }
    }

    fn end(&self, reason: &str) -> Bytes {
        let cursor = self.admitted.cursor();
        let data = serde_json::json!({"reason": reason, "cursor": cursor});
        Bytes::from(format!("event: end\nid: {cursor}\ndata: {data}\n\n"))
    }
}

/// What is said of a failure: the log has the rest.
pub(super) fn failed(error: &ProtocolError) -> &'static str {
    tracing::error!(%error, "a stream of pushes failed");
    "failed"
}

fn event(push: &PushNotification) -> Bytes {
    // Texts, numbers and booleans always have a JSON form, and JSON is one line.
    let data = serde_json::to_string(push).unwrap_or_default();
    Bytes::from(format!("id: {}\nevent: {}\ndata: {data}\n\n", push.cursor, push.event))
}
