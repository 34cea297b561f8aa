//! Callers of the protocol, with and without a credential, and what a refusal must look like to them.

use crate::support::{Client, Reply, TestServer};

pub(crate) const VERSION: &str = "harn-agents-protocol-version";
pub(crate) const APRIL: &str = "agents-protocol-2026-04-25";
pub(crate) const OCTOBER: &str = "agents-protocol-2026-10-11";

/// A caller that speaks the protocol and has no credential.
pub(crate) fn stranger(server: &TestServer) -> Client {
    server.client().with(VERSION, APRIL)
}

/// A caller with this key or token.
pub(crate) fn bearer(server: &TestServer, secret: &str) -> Client {
    stranger(server).with_key(secret)
}

/// The status and the code of a refusal, whose envelope must be whole.
pub(crate) fn refusal(reply: &Reply) -> (u16, String) {
    let body = reply.json();
    let error = &body["error"];
    for text in ["code", "message", "type", "request_id"] {
        assert!(error[text].as_str().is_some_and(|text| !text.is_empty()), "{text}: {body}");
    }
    assert!(error["details"].is_object() && error.get("param").is_some(), "{body}");
    assert_eq!(error["request_id"].as_str(), reply.header("x-request-id"), "{body}");
    (reply.status, error["code"].as_str().unwrap().to_owned())
}

/// What [`refusal`] is compared with.
pub(crate) fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
