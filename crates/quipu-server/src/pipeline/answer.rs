//! How an answer and a refusal become HTTP responses. Every refusal is the protocol's error object.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};
use quipu_wire::{ErrorCode, ProtocolError};
use serde::Serialize;

/// How a caller proves itself, said to one that did not.
pub(crate) const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"quipu\"");
/// A second refills a key's bucket by as much as it may send in one.
pub(crate) const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

pub(crate) type Outcome<T> = Result<Answer<T>, Refused>;

/// A payload to answer with, as JSON.
#[derive(Debug)]
pub(crate) struct Answer<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response<Body> {
        match serde_json::to_vec(&self.0) {
            Ok(json) => respond(StatusCode::OK, json),
            Err(error) => {
                tracing::error!(%error, "an answer could not be written");
                let message = "the answer could not be written as JSON";
                Refused::from(ProtocolError::new(ErrorCode::InternalError, message)).into_response()
            }
        }
    }
}

/// A refusal. Boxed, so that the good way stays small.
#[derive(Debug)]
pub(crate) struct Refused(Box<ProtocolError>);

impl From<ProtocolError> for Refused {
    fn from(error: ProtocolError) -> Self {
        Self(Box::new(error))
    }
}

impl Refused {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        ProtocolError::new(code, message).into()
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response<Body> {
        let code = self.0.code;
        let status =
            StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        // The error is made of texts and booleans only, which always have a JSON form.
        let mut response = respond(status, serde_json::to_vec(&self.0).unwrap_or_default());
        if let Some((name, value)) = extra_header(code) {
            response.headers_mut().insert(name, value);
        }
        response
            .extensions_mut()
            .insert(RefusalNote { code: code.as_str(), message: self.0.message });
        response
    }
}

/// What a refusal says, left on the response for the log and the metrics.
#[derive(Debug, Clone)]
pub(crate) struct RefusalNote {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

fn extra_header(code: ErrorCode) -> Option<(HeaderName, HeaderValue)> {
    if code == ErrorCode::Unauthenticated {
        return Some((header::WWW_AUTHENTICATE, CHALLENGE));
    }
    matches!(code, ErrorCode::Overloaded | ErrorCode::RateLimited)
        .then_some((header::RETRY_AFTER, RETRY_AFTER))
}

pub(crate) fn respond(status: StatusCode, json: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(json));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
