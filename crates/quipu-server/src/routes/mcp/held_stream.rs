//! A stream to a client of MCP: holds its place among all streams, and ends when its key does.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    body::{Bytes, HttpBody},
    http::HeaderMap,
};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::pipeline::{auth, state::App, stream_permits::StreamPermit};

pub(super) struct HeldStream<B> {
    body: B,
    app: Arc<App>,
    /// What the key came in.
    headers: HeaderMap,
    looks: Interval,
    /// Made once: who waits for it again at every part pays for it at every part.
    revoked: Pin<Box<dyn Future<Output = ()> + Send>>,
    _place: StreamPermit,
}

impl<B> HeldStream<B> {
    pub(super) fn new(body: B, app: Arc<App>, headers: HeaderMap, place: StreamPermit) -> Self {
        let mut looks = interval(app.push.heartbeat);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut changes, held, shown) = (app.keys.changes(), Arc::clone(&app), headers.clone());
        let revoked =
            async move { auth::revoked(&mut changes, || auth::holds(&held, &shown)).await };
        Self { body, app, headers, looks, revoked: Box::pin(revoked), _place: place }
    }
}

impl<B> HttpBody for HeldStream<B>
where
    B: HttpBody<Data = Bytes, Error = Infallible> + Unpin,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.revoked.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        while self.looks.poll_tick(cx).is_ready() {
            if !auth::holds(&self.app, &self.headers) {
                return Poll::Ready(None);
            }
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
