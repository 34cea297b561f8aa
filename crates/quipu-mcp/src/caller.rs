//! The seam to whoever carries an operation out: calls in the shape of the HTTP binding. The server
//! answers them in process, `quipu mcp` with an embedded Field or over the network.

use std::future::Future;

use quipu_wire::akashik::{Operation, PushNotification};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::uri::encoded;

/// What came with the request that a call is made for: passed on as it came, judged by the other side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presented {
    /// `Authorization`.
    pub authorization: Option<String>,
    /// `Quipu-Field`.
    pub field: Option<String>,
    /// `Akashik-Agent`: who speaks where a tool call does not say.
    pub agent: Option<String>,
    /// `Akashik-Session`, likewise.
    pub session: Option<String>,
    /// `X-Request-Id`, under which logs speak of the request.
    pub request_id: Option<String>,
}

/// What a call does.
#[derive(Debug, Clone, PartialEq)]
pub enum Verb {
    /// Carries an operation out, with this payload.
    Operate(Operation, Value),
    /// Reads a path.
    Read(String),
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What came with the request.
    pub presented: Presented,
    /// The agent that speaks; the credential's own if absent.
    pub agent: Option<String>,
    /// The session it speaks in.
    pub session: Option<String>,
    /// What to do.
    pub verb: Verb,
}

/// A place in a stream of pushes.
#[derive(Debug, Clone, Copy)]
pub struct PushPlace<'a> {
    /// The subscription.
    pub subscription: &'a str,
    /// After what to go on.
    pub cursor: &'a str,
}

impl PushPlace<'_> {
    /// Where the HTTP binding streams it.
    #[must_use]
    pub fn path(&self) -> String {
        let (subscription, cursor) = (encoded(self.subscription), encoded(self.cursor));
        format!("/v1/subscriptions/{subscription}/events?after={cursor}")
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The response's payload, or the error object.
    pub body: Value,
}

/// No answer came, and it is not known whether the call was carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CallFailed(pub String);

/// Carries calls out.
///
/// A write is carried out at most once, also where the implementation has to send it again: it sends
/// the same message id then.
pub trait Caller: Send + Sync + 'static {
    /// Makes one call.
    fn call(&self, call: Call) -> impl Future<Output = Result<Answer, CallFailed>> + Send;

    /// Follows what a subscription of the agent pushes after a cursor. Dropping the receiver ends it;
    /// it ends by itself when the stream does.
    fn follow(
        &self,
        presented: &Presented,
        agent: &str,
        from: PushPlace<'_>,
    ) -> impl Future<Output = Result<mpsc::Receiver<PushNotification>, CallFailed>> + Send;

    /// The only agent that the credential speaks for, if there is one.
    fn bound_agent(&self, presented: &Presented) -> impl Future<Output = Option<String>> + Send;
}
