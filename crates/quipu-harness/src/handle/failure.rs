//! What the Field refuses, in this protocol's words. One table.

use quipu_wire::{
    ErrorCode, ProtocolError,
    harn::{HarnError, HarnErrorCode, ResourceKind, key_reused},
};

/// The Field's refusal as this protocol says it.
#[must_use]
pub fn harn_error(error: &ProtocolError) -> HarnError {
    if error.code == ErrorCode::MessageIdReused {
        return key_reused();
    }
    HarnError::new(code(error.code), error.message.clone())
}

const fn code(code: ErrorCode) -> HarnErrorCode {
    match code {
        ErrorCode::MissingIntent
        | ErrorCode::MissingConfidence
        | ErrorCode::InvalidConfidence
        | ErrorCode::InvalidType
        | ErrorCode::InvalidPayload
        | ErrorCode::EpochOverflow
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::ReplayTooLarge
        | ErrorCode::MethodNotAllowed => HarnErrorCode::InvalidRequest,
        ErrorCode::AgentNotRegistered | ErrorCode::InsufficientAuthority => {
            HarnErrorCode::PermissionDenied
        }
        ErrorCode::ConflictNotFound
        | ErrorCode::UnitNotFound
        | ErrorCode::FieldNotFound
        | ErrorCode::RouteNotFound => HarnErrorCode::ResourceNotFound,
        ErrorCode::AgentIdTaken | ErrorCode::InvalidTransition | ErrorCode::MergeFailed => {
            HarnErrorCode::Conflict
        }
        ErrorCode::MessageIdReused => HarnErrorCode::IdempotencyKeyReused,
        ErrorCode::UnsupportedVersion => HarnErrorCode::UnsupportedProtocolVersion,
        ErrorCode::Unauthenticated => HarnErrorCode::Unauthenticated,
        ErrorCode::PayloadTooLarge => HarnErrorCode::PayloadTooLarge,
        ErrorCode::RateLimited => HarnErrorCode::RateLimited,
        ErrorCode::DetectionTimeout => HarnErrorCode::DeadlineExceeded,
        ErrorCode::EnrichmentFailed => HarnErrorCode::UpstreamUnavailable,
        ErrorCode::StorageFull
        | ErrorCode::FieldUnavailable
        | ErrorCode::Overloaded
        | ErrorCode::UnsupportedOperation => HarnErrorCode::ServiceUnavailable,
        ErrorCode::InternalError => HarnErrorCode::InternalError,
    }
}

/// Whether something may be carried out later as it is, because the log is away, full or does not answer.
#[must_use]
pub(crate) fn is_for_now(error: &HarnError) -> bool {
    error.code == HarnErrorCode::ServiceUnavailable
}

/// There is no such resource, or none that the caller may know of.
#[must_use]
pub fn not_found(kind: ResourceKind, id: &str) -> HarnError {
    HarnError::new(HarnErrorCode::ResourceNotFound, format!("there is no {kind} {id}"))
}

/// Something that should always hold does not: the fault is the server's.
pub(crate) fn internal_error(message: impl Into<String>) -> HarnError {
    HarnError::new(HarnErrorCode::InternalError, message)
}
