//! The protocol's errors: the closed set of codes, the one table from a code to its HTTP status and
//! its type, and the envelope that every refusal is answered with.

use serde::{Deserialize, Serialize};

use super::JsonObject;
use crate::{
    json::{canon::ParseError, reader::ReadError},
    words::words,
};

words! {
    /// What went wrong. The set is closed: clients match on it.
    HarnErrorCode {
        /// The request is malformed; `param` says where.
        InvalidRequest = "invalid_request",
        /// The resource cannot go from where it is to where it was asked to.
        InvalidStateTransition = "invalid_state_transition",
        /// No credential, or none that is known.
        Unauthenticated = "unauthenticated",
        /// The credential may not do this.
        PermissionDenied = "permission_denied",
        /// There is no such resource, or the caller may not know of it.
        ResourceNotFound = "resource_not_found",
        /// The resource is not in a state that allows this.
        Conflict = "conflict",
        /// The idempotency key was used for another request.
        IdempotencyKeyReused = "idempotency_key_reused",
        /// The cursor's place in the log is no longer known.
        CursorExpired = "cursor_expired",
        /// The body is larger than is read.
        PayloadTooLarge = "payload_too_large",
        /// A policy of the Persona, workspace or vault forbids it.
        PolicyViolation = "policy_violation",
        /// Somebody else holds the resource.
        ResourceLocked = "resource_locked",
        /// The version header is absent or names a version that is not spoken.
        UnsupportedProtocolVersion = "unsupported_protocol_version",
        /// Too many requests.
        RateLimited = "rate_limited",
        /// The client went away.
        ClientClosedRequest = "client_closed_request",
        /// A defect of the server.
        InternalError = "internal_error",
        /// Something that the server depends on failed.
        UpstreamUnavailable = "upstream_unavailable",
        /// The server takes no requests of this kind now.
        ServiceUnavailable = "service_unavailable",
        /// It took too long.
        DeadlineExceeded = "deadline_exceeded",
    }
}

words! {
    /// The family of an error.
    HarnErrorType {
        /// The request is wrong.
        RequestError = "request_error",
        /// The caller is not known.
        AuthError = "auth_error",
        /// The caller may not.
        PermissionError = "permission_error",
        /// There is no such thing.
        NotFoundError = "not_found_error",
        /// It contradicts what is.
        ConflictError = "conflict_error",
        /// Too much at once.
        RateLimitError = "rate_limit_error",
        /// It failed while it ran.
        RuntimeError = "runtime_error",
        /// Another service failed.
        UpstreamError = "upstream_error",
        /// The server failed.
        ServerError = "server_error",
    }
}

impl HarnErrorCode {
    /// The one table: HTTP status and type of each code.
    const fn row(self) -> (u16, HarnErrorType) {
        use HarnErrorType as T;
        match self {
            Self::InvalidRequest | Self::InvalidStateTransition => (400, T::RequestError),
            Self::Unauthenticated => (401, T::AuthError),
            Self::PermissionDenied => (403, T::PermissionError),
            Self::ResourceNotFound => (404, T::NotFoundError),
            Self::Conflict | Self::IdempotencyKeyReused => (409, T::ConflictError),
            Self::CursorExpired => (410, T::ConflictError),
            Self::PayloadTooLarge => (413, T::RequestError),
            Self::PolicyViolation => (422, T::PermissionError),
            Self::ResourceLocked => (423, T::ConflictError),
            Self::UnsupportedProtocolVersion => (426, T::RequestError),
            Self::RateLimited => (429, T::RateLimitError),
            Self::ClientClosedRequest => (499, T::RequestError),
            Self::InternalError => (500, T::ServerError),
            Self::UpstreamUnavailable => (502, T::UpstreamError),
            Self::ServiceUnavailable => (503, T::ServerError),
            Self::DeadlineExceeded => (504, T::RuntimeError),
        }
    }

    #[must_use]
    pub const fn http_status(self) -> u16 {
        self.row().0
    }

    #[must_use]
    pub const fn error_type(self) -> HarnErrorType {
        self.row().1
    }
}

/// An error. `message` and `details` never hold a secret, a token or a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HarnError {
    /// What went wrong.
    pub code: HarnErrorCode,
    /// A sentence that names the parameter or the value.
    pub message: String,
    /// The family of the code.
    #[serde(rename = "type")]
    pub error_type: HarnErrorType,
    /// The parameter that was refused, as the client wrote it.
    pub param: Option<String>,
    /// The request, for whoever reads the server's log.
    pub request_id: Option<String>,
    /// More, for programs.
    #[serde(default)]
    pub details: JsonObject,
}

/// The body of every refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HarnErrorResponse {
    /// The error.
    pub error: HarnError,
}

impl HarnError {
    #[must_use]
    pub fn new(code: HarnErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            error_type: code.error_type(),
            param: None,
            request_id: None,
            details: JsonObject::default(),
        }
    }

    /// The same error, said of a parameter.
    #[must_use]
    pub fn at(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }
}

/// What was found is not repeated: a request of this protocol may carry secrets, and an error must not.
impl From<ReadError> for HarnError {
    fn from(error: ReadError) -> Self {
        let code = HarnErrorCode::InvalidRequest;
        let (path, problem) = (error.path, error.problem.wanted);
        if path.is_empty() {
            return Self::new(code, format!("the body {problem}"));
        }
        Self::new(code, format!("{path}: {problem}")).at(path)
    }
}

impl From<ParseError> for HarnError {
    fn from(error: ParseError) -> Self {
        Self::new(HarnErrorCode::InvalidRequest, format!("the body is not strict JSON: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let mut table = String::new();
        for code in HarnErrorCode::ALL {
            writeln!(table, "{} {code} {}", code.http_status(), code.error_type()).unwrap();
        }
        insta::assert_snapshot!("harn_error_codes", table);
    }

    #[test]
    fn a_duplicate_key_is_an_invalid_request_that_names_the_key() {
        let error: HarnError =
            crate::json::canon::parse(br#"{"input":1,"input":2}"#).unwrap_err().into();
        assert_eq!(error.code, HarnErrorCode::InvalidRequest);
        assert!(error.message.contains("input"), "{}", error.message);
    }

    #[test]
    fn an_error_does_not_repeat_what_was_sent() {
        let body = serde_json::json!({"mode": "s3cret", "input": {"n": "s3cret"}});
        for error in [
            HarnError::from(crate::harn::ReplayTaskRequest::parse(Some(body.clone())).unwrap_err()),
            HarnError::from(crate::harn::CreateBranchRequest::parse(body).unwrap_err()),
        ] {
            assert!(!error.message.contains("s3cret"), "{error}");
            assert!(error.message.contains("one of"), "{error}");
        }
    }

    #[test]
    fn a_body_that_is_no_object_is_refused_without_a_parameter() {
        let error: HarnError = super::super::reading::body(3.into()).unwrap_err().into();
        assert_eq!(error.message, "the body must be an object");
        assert_eq!(error.param, None);
    }
}
