//! The interface to whatever carries out operations: calls in the shape of the HTTP binding. The server answers them
//! in its own process; `quipu mcp` answers them from an embedded Field or over the network.

use std::future::Future;

use quipu_wire::akashik::{Operation, PushNotification};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::uri::encoded;

/// The headers of the client's request. They are passed on unchanged, and checked by whoever carries the call out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presented {
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The `Quipu-Field` header: the name of the Field.
    pub field: Option<String>,
    /// The `Akashik-Agent` header: the agent that speaks if the arguments of a tool call name none.
    pub agent: Option<String>,
    /// The `Akashik-Session` header: the session if the arguments of a tool call name none.
    pub session: Option<String>,
    /// The `X-Request-Id` header, by which log lines name the request.
    pub request_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Verb {
    /// Carries out an operation with this payload.
    Operate(Operation, Value),
    /// Reads a path, such as `/v1/units/{id}`.
    Read(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The headers of the client's request.
    pub presented: Presented,
    /// The agent that speaks. If absent, the agent that the credential is bound to.
    pub agent: Option<String>,
    pub session: Option<String>,
    pub verb: Verb,
}

#[derive(Debug, Clone, Copy)]
pub struct PushPosition<'a> {
    pub subscription: &'a str,
    /// The cursor of the last push that was received.
    pub cursor: &'a str,
}

impl PushPosition<'_> {
    /// The path at which the HTTP binding serves this stream.
    #[must_use]
    pub fn path(&self) -> String {
        let (subscription, cursor) = (encoded(self.subscription), encoded(self.cursor));
        format!("/v1/subscriptions/{subscription}/events?after={cursor}")
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// The response's payload, or the error object.
    pub body: Value,
}

/// No answer came, so it is unknown whether the call was carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CallFailed(pub String);

/// Carries out calls.
///
/// A write is carried out at most once: an implementation that has to send it again uses the same message id.
pub trait Caller: Send + Sync + 'static {
    fn call(&self, call: Call) -> impl Future<Output = Result<Answer, CallFailed>> + Send;

    /// Streams what a subscription of the agent pushes after a cursor. Dropping the receiver ends the stream; the
    /// receiver also ends when the stream does.
    fn follow(
        &self,
        presented: &Presented,
        agent: &str,
        from: PushPosition<'_>,
    ) -> impl Future<Output = Result<mpsc::Receiver<PushNotification>, CallFailed>> + Send;

    /// The only agent that the credential speaks for, if there is one.
    fn bound_agent(&self, presented: &Presented) -> impl Future<Output = Option<String>> + Send;
}
