//! The servers that serve one Field: a client stays with one of them as long as that answers, and goes to the next
//! where it does not.

use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
};

use crate::{error::ClientError, net::http::Http};

/// One server, or several that serve the same.
#[derive(Debug)]
pub(crate) struct Nodes {
    first: Http,
    others: Vec<Http>,
    /// How often the client went on to the next.
    moves: AtomicUsize,
}

impl Nodes {
    pub(crate) const fn new(first: Http, others: Vec<Http>) -> Self {
        Self { first, others, moves: AtomicUsize::new(0) }
    }

    pub(crate) const fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// The one that is asked next, and after how many moves.
    fn current(&self) -> (&Http, usize) {
        let moves = self.moves.load(Ordering::Relaxed);
        let number = moves % (self.others.len() + 1);
        let other = number.checked_sub(1).and_then(|at| self.others.get(at));
        (other.unwrap_or(&self.first), moves)
    }

    pub(crate) fn url(&self) -> &str {
        self.current().0.url()
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn exchange(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, ClientError> {
        let (server, moves) = self.current();
        let answer = server.exchange(request).await;
        self.judge(&answer, moves);
        answer
    }

    /// Sends a request whose answer goes on.
    pub(crate) async fn stream(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<Incoming>, ClientError> {
        let (server, moves) = self.current();
        let answer = server.stream(request).await;
        self.judge(&answer, moves);
        answer
    }

    /// Goes on where a server is away or cannot do its work now. Of many calls that fail with one server only the first
    /// moves, so that none is passed over.
    fn judge<B>(&self, answer: &Result<Response<B>, ClientError>, moves: usize) {
        let failed = match answer {
            Ok(answer) => answer.status() == StatusCode::SERVICE_UNAVAILABLE,
            Err(_) => true,
        };
        if failed {
            let next = moves.wrapping_add(1);
            self.moves.compare_exchange(moves, next, Ordering::Relaxed, Ordering::Relaxed).ok();
        }
    }
}
