//! A stream of typed events: `Following` made into something that can be polled.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use crate::{error::ClientError, handle::following::Following};

/// What a step comes to: an event, or none any more.
pub(crate) type Step<T> =
    Pin<Box<dyn Future<Output = (Option<Result<T, ClientError>>, Following)> + Send>>;

/// Events as they happen. It goes on where it was after a lost connection; an error is its last word.
/// Dropping it ends it.
pub struct EventStream<T> {
    next: fn(Following) -> Step<T>,
    state: State<T>,
}

enum State<T> {
    Idle(Box<Following>),
    Waiting(Step<T>),
    Over,
}

impl<T> EventStream<T> {
    pub(crate) fn new(following: Following, next: fn(Following) -> Step<T>) -> Self {
        Self { next, state: State::Idle(Box::new(following)) }
    }

    /// The next event; none where there will be no more. Safe to give up: nothing is lost.
    pub async fn next(&mut self) -> Option<Result<T, ClientError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<T> Stream for EventStream<T> {
    type Item = Result<T, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut step = match std::mem::replace(&mut self.state, State::Over) {
            State::Over => return Poll::Ready(None),
            State::Waiting(step) => step,
            State::Idle(following) => (self.next)(*following),
        };
        let Poll::Ready((item, following)) = step.as_mut().poll(cx) else {
            self.state = State::Waiting(step);
            return Poll::Pending;
        };
        if matches!(item, Some(Ok(_))) {
            self.state = State::Idle(Box::new(following));
        }
        Poll::Ready(item)
    }
}

impl<T> fmt::Debug for EventStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}
