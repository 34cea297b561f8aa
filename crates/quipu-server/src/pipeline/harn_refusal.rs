//! How this protocol says no: its error in its envelope, with the status of the one table and the id of the
//! request. What a Field refuses is translated by `quipu_harness`; nothing here repeats what was sent.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};
use quipu_field::FieldError;
use quipu_harness::{harn_error, harn_refusal};
use quipu_wire::{
    ProtocolError,
    harn::{HarnError, HarnErrorCode, HarnErrorResponse},
    json::reader::ReadError,
};

use crate::pipeline::{
    answer::{CHALLENGE, RETRY_AFTER, RefusalNote, respond},
    request_id,
};

/// A refusal. Boxed, so that the good way stays small.
#[derive(Debug)]
pub(crate) struct HarnRefused(Box<HarnError>);

impl HarnRefused {
    pub(crate) fn new(code: HarnErrorCode, message: impl Into<String>) -> Self {
        HarnError::new(code, message).into()
    }

    /// What it says, for a stream that has its own envelope.
    pub(crate) fn into_error(self) -> HarnError {
        let mut error = *self.0;
        error.request_id = request_id::current();
        error
    }
}

impl From<HarnError> for HarnRefused {
    fn from(error: HarnError) -> Self {
        Self(Box::new(error))
    }
}

impl From<ProtocolError> for HarnRefused {
    fn from(error: ProtocolError) -> Self {
        harn_refusal(error).into()
    }
}

impl From<FieldError> for HarnRefused {
    fn from(error: FieldError) -> Self {
        harn_error(&error).into()
    }
}

impl From<ReadError> for HarnRefused {
    fn from(error: ReadError) -> Self {
        HarnError::from(error).into()
    }
}

impl IntoResponse for HarnRefused {
    fn into_response(self) -> Response<Body> {
        let error = self.into_error();
        let code = error.code;
        let note = RefusalNote { code: code.as_str(), message: error.message.clone() };
        let status =
            StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        // The error is made of texts and JSON only, which always have a JSON form.
        let json = serde_json::to_vec(&HarnErrorResponse { error }).unwrap_or_default();
        let mut response = respond(status, json);
        if let Some((name, value)) = extra_header(code) {
            response.headers_mut().insert(name, value);
        }
        response.extensions_mut().insert(note);
        response
    }
}

fn extra_header(code: HarnErrorCode) -> Option<(HeaderName, HeaderValue)> {
    if code == HarnErrorCode::Unauthenticated {
        return Some((header::WWW_AUTHENTICATE, CHALLENGE));
    }
    (code == HarnErrorCode::RateLimited).then_some((header::RETRY_AFTER, RETRY_AFTER))
}
