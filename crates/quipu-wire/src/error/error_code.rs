//! The one table of error codes: the text on the wire, the HTTP status, whether the caller can
//! recover, and what it should do. Seventeen codes are the protocol's, the rest are ours
//! (`docs/errors/` says which). Every match here is exhaustive on purpose.

use serde::{Deserialize, Serialize};

/// What went wrong, as the caller can act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ErrorCode {
    MissingIntent,
    MissingConfidence,
    InvalidConfidence,
    InvalidType,
    AgentNotRegistered,
    AgentIdTaken,
    ConflictNotFound,
    UnitNotFound,
    InvalidTransition,
    UnsupportedOperation,
    EnrichmentFailed,
    DetectionTimeout,
    MergeFailed,
    ReplayTooLarge,
    StorageFull,
    EpochOverflow,
    InternalError,
    InvalidPayload,
    UnsupportedVersion,
    Unauthenticated,
    InsufficientAuthority,
    MessageIdReused,
    PayloadTooLarge,
    UnsupportedMediaType,
    FieldNotFound,
    RouteNotFound,
    MethodNotAllowed,
    FieldUnavailable,
    Overloaded,
    RateLimited,
}

impl ErrorCode {
    pub const ALL: [Self; 30] = [
        Self::MissingIntent,
        Self::MissingConfidence,
        Self::InvalidConfidence,
        Self::InvalidType,
        Self::AgentNotRegistered,
        Self::AgentIdTaken,
        Self::ConflictNotFound,
        Self::UnitNotFound,
        Self::InvalidTransition,
        Self::UnsupportedOperation,
        Self::EnrichmentFailed,
        Self::DetectionTimeout,
        Self::MergeFailed,
        Self::ReplayTooLarge,
        Self::StorageFull,
        Self::EpochOverflow,
        Self::InternalError,
        Self::InvalidPayload,
        Self::UnsupportedVersion,
        Self::Unauthenticated,
        Self::InsufficientAuthority,
        Self::MessageIdReused,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::FieldNotFound,
        Self::RouteNotFound,
        Self::MethodNotAllowed,
        Self::FieldUnavailable,
        Self::Overloaded,
        Self::RateLimited,
    ];

    /// The code as it goes over the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingIntent => "MISSING_INTENT",
            Self::MissingConfidence => "MISSING_CONFIDENCE",
            Self::InvalidConfidence => "INVALID_CONFIDENCE",
            Self::InvalidType => "INVALID_TYPE",
            Self::AgentNotRegistered => "AGENT_NOT_REGISTERED",
            Self::AgentIdTaken => "AGENT_ID_TAKEN",
            Self::ConflictNotFound => "CONFLICT_NOT_FOUND",
            Self::UnitNotFound => "UNIT_NOT_FOUND",
            Self::InvalidTransition => "INVALID_TRANSITION",
            Self::UnsupportedOperation => "UNSUPPORTED_OPERATION",
            Self::EnrichmentFailed => "ENRICHMENT_FAILED",
            Self::DetectionTimeout => "DETECTION_TIMEOUT",
            Self::MergeFailed => "MERGE_FAILED",
            Self::ReplayTooLarge => "REPLAY_TOO_LARGE",
            Self::StorageFull => "STORAGE_FULL",
            Self::EpochOverflow => "EPOCH_OVERFLOW",
            Self::InternalError => "INTERNAL_ERROR",
            Self::InvalidPayload => "INVALID_PAYLOAD",
            Self::UnsupportedVersion => "UNSUPPORTED_VERSION",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::InsufficientAuthority => "INSUFFICIENT_AUTHORITY",
            Self::MessageIdReused => "MESSAGE_ID_REUSED",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::FieldNotFound => "FIELD_NOT_FOUND",
            Self::RouteNotFound => "ROUTE_NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::FieldUnavailable => "FIELD_UNAVAILABLE",
            Self::Overloaded => "OVERLOADED",
            Self::RateLimited => "RATE_LIMITED",
        }
    }

    #[must_use]
    pub const fn http_status(self) -> u16 {
        match self {
            Self::MissingIntent
            | Self::MissingConfidence
            | Self::InvalidConfidence
            | Self::InvalidType
            | Self::InvalidPayload
            | Self::UnsupportedVersion => 400,
            Self::Unauthenticated => 401,
            Self::InsufficientAuthority | Self::AgentNotRegistered => 403,
            Self::ConflictNotFound
            | Self::UnitNotFound
            | Self::FieldNotFound
            | Self::RouteNotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::AgentIdTaken
            | Self::InvalidTransition
            | Self::MergeFailed
            | Self::MessageIdReused => 409,
            Self::ReplayTooLarge | Self::PayloadTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::RateLimited => 429,
            Self::EnrichmentFailed
            | Self::DetectionTimeout
            | Self::EpochOverflow
            | Self::InternalError => 500,
            Self::UnsupportedOperation => 501,
            Self::FieldUnavailable | Self::Overloaded => 503,
            Self::StorageFull => 507,
        }
    }

    /// Whether the caller can do something about it and try again.
    #[must_use]
    pub const fn recoverable(self) -> bool {
        match self {
            Self::MissingIntent
            | Self::MissingConfidence
            | Self::InvalidConfidence
            | Self::InvalidType
            | Self::AgentNotRegistered
            | Self::AgentIdTaken
            | Self::InvalidTransition
            | Self::EnrichmentFailed
            | Self::DetectionTimeout
            | Self::MergeFailed
            | Self::ReplayTooLarge
            | Self::InvalidPayload
            | Self::Unauthenticated
            | Self::MessageIdReused
            | Self::PayloadTooLarge
            | Self::UnsupportedMediaType
            | Self::FieldUnavailable
            | Self::Overloaded
            | Self::RateLimited => true,
            Self::ConflictNotFound
            | Self::UnitNotFound
            | Self::UnsupportedOperation
            | Self::StorageFull
            | Self::EpochOverflow
            | Self::InternalError
            | Self::UnsupportedVersion
            | Self::InsufficientAuthority
            | Self::FieldNotFound
            | Self::RouteNotFound
            | Self::MethodNotAllowed => false,
        }
    }

    /// What the caller should do next, as a short imperative.
    #[must_use]
    pub const fn suggested_action(self) -> &'static str {
        match self {
            Self::MissingIntent => "resubmit with intent.purpose: why this unit is recorded",
            Self::MissingConfidence => {
                "resubmit with confidence.score and confidence.reasoning, or record a draft"
            }
            Self::InvalidConfidence => "resubmit with confidence.score from 0.0 to 1.0",
            Self::InvalidType => "use one of the eleven memory types",
            Self::AgentNotRegistered => "call REGISTER first",
            Self::AgentIdTaken => "register under another id, or DEREGISTER this one first",
            Self::ConflictNotFound => "list the conflicts with DETECT",
            Self::UnitNotFound => "check the id; what you may not see counts as absent",
            Self::InvalidTransition => "read the current state and choose an allowed move",
            Self::UnsupportedOperation => {
                "use an operation from field_capabilities.supported_operations"
            }
            Self::EnrichmentFailed => "nothing: the unit is committed and will be enriched later",
            Self::DetectionTimeout => "nothing: detection goes on in the background",
            Self::MergeFailed => "try another strategy",
            Self::ReplayTooLarge => "ask for depth summary or detailed",
            Self::StorageFull => "free or add storage on the server; reads go on",
            Self::EpochOverflow => "restart the Field from a checkpoint",
            Self::InternalError => "report this to the operator with the request id",
            Self::InvalidPayload => "correct the named field and resubmit",
            Self::UnsupportedVersion => "speak version 0.1.0",
            Self::Unauthenticated => "send a valid key as Authorization: Bearer",
            Self::InsufficientAuthority => "ask the operator for a key that may do this",
            Self::MessageIdReused => "use a new message id for a new message",
            Self::PayloadTooLarge => "send less; split it into several units",
            Self::UnsupportedMediaType => "send Content-Type: application/json",
            Self::FieldNotFound => "check the Quipu-Field header",
            Self::RouteNotFound => "see /openapi.json for the routes",
            Self::MethodNotAllowed => "see /openapi.json for the method",
            Self::FieldUnavailable => {
                "wait a moment and send it again with the same message id; if it stays, see /readyz"
            }
            Self::Overloaded => "wait a moment and send it again with the same message id",
            Self::RateLimited => "wait as long as Retry-After says, then go on more slowly",
        }
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;
    use std::fmt::Write as _;

    #[test]
    fn the_table_is_what_the_documentation_promises() {
        let mut table = String::new();
        for code in ErrorCode::ALL {
            writeln!(table, "{code} {} {}", code.http_status(), code.recoverable()).unwrap();
        }
        insta::assert_snapshot!("error_codes", table);
    }

    #[test]
    fn the_wire_text_is_what_serde_writes() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
