//! What the Field refuses, in this protocol's words. One table.

use quipu_field::FieldError;
use quipu_wire::{
    ErrorCode, ProtocolError,
    harn::{HarnError, HarnErrorCode, ResourceKind, key_reused},
};

/// What the Field answers instead of a result, as this protocol says it.
#[must_use]
pub fn harn_error(error: &FieldError) -> HarnError {
    translate(error.code(), error.to_string())
}

/// The same for what is refused before a Field is asked.
#[must_use]
pub fn harn_refusal(error: ProtocolError) -> HarnError {
    translate(error.code, error.message)
}

fn translate(refused: ErrorCode, message: String) -> HarnError {
    if refused == ErrorCode::MessageIdReused {
        return key_reused();
    }
    HarnError::new(code(refused), message)
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

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_core::{Refusal, rules::harn::Error as Rule};
    use quipu_field::{EpochError, Overload, RequestError, Unavailable};
    use quipu_log::EngineError;

    #[test]
    fn each_class_of_a_fields_error_has_its_documented_code() {
        let reused = Refusal::MessageIdReused { id: "m".to_owned(), agent: "a".to_owned() };
        for (error, code) in [
            (FieldError::from(reused), HarnErrorCode::IdempotencyKeyReused),
            (Refusal::from(Rule::Changed).into(), HarnErrorCode::ServiceUnavailable),
            (RequestError::CursorUnreadable.into(), HarnErrorCode::InvalidRequest),
            (EpochError::Exhausted.into(), HarnErrorCode::InvalidRequest),
            (EngineError::Full.into(), HarnErrorCode::ServiceUnavailable),
            (Overload::QueueFull.into(), HarnErrorCode::ServiceUnavailable),
            (FieldError::OutcomeUnknown { unknown: "" }, HarnErrorCode::ServiceUnavailable),
            (Unavailable::Closed.into(), HarnErrorCode::ServiceUnavailable),
            (FieldError::Internal(String::new()), HarnErrorCode::InternalError),
        ] {
            assert_eq!(harn_error(&error).code, code, "{error:?}");
        }
    }
}
