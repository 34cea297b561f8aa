//! How a refusal of a Field reads in this protocol: the one table from its codes to the closed set here.

use super::{HarnError, HarnErrorCode};
use crate::{error::ProtocolError, error_code::ErrorCode};

impl From<ErrorCode> for HarnErrorCode {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::MissingIntent
            | ErrorCode::MissingConfidence
            | ErrorCode::InvalidConfidence
            | ErrorCode::InvalidType
            | ErrorCode::InvalidPayload
            | ErrorCode::UnsupportedVersion
            | ErrorCode::UnsupportedMediaType
            | ErrorCode::UnsupportedOperation
            | ErrorCode::MethodNotAllowed => Self::InvalidRequest,
            ErrorCode::InvalidTransition => Self::InvalidStateTransition,
            ErrorCode::Unauthenticated => Self::Unauthenticated,
            ErrorCode::InsufficientAuthority | ErrorCode::AgentNotRegistered => {
                Self::PermissionDenied
            }
            ErrorCode::ConflictNotFound
            | ErrorCode::UnitNotFound
            | ErrorCode::FieldNotFound
            | ErrorCode::RouteNotFound => Self::ResourceNotFound,
            ErrorCode::AgentIdTaken | ErrorCode::MergeFailed => Self::Conflict,
            ErrorCode::MessageIdReused => Self::IdempotencyKeyReused,
            ErrorCode::ReplayTooLarge | ErrorCode::PayloadTooLarge => Self::PayloadTooLarge,
            ErrorCode::RateLimited => Self::RateLimited,
            ErrorCode::EpochOverflow | ErrorCode::InternalError => Self::InternalError,
            ErrorCode::EnrichmentFailed => Self::UpstreamUnavailable,
            ErrorCode::StorageFull | ErrorCode::FieldUnavailable | ErrorCode::Overloaded => {
                Self::ServiceUnavailable
            }
            ErrorCode::DetectionTimeout => Self::DeadlineExceeded,
        }
    }
}

impl From<ProtocolError> for HarnError {
    fn from(error: ProtocolError) -> Self {
        Self::new(error.code.into(), error.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn every_code_of_a_field_has_its_code_here() {
        let mut table = String::new();
        for code in ErrorCode::ALL {
            writeln!(table, "{code} {}", HarnErrorCode::from(code)).unwrap();
        }
        insta::assert_snapshot!("harn_codes_of_the_fields_codes", table);
    }

    #[test]
    fn whose_fault_it_was_stays_the_same() {
        for code in ErrorCode::ALL {
            let here = HarnErrorCode::from(code).http_status() / 100;
            // What a Field does not do is asked for in vain: the caller's fault, where 501 is not spoken.
            let there =
                if code == ErrorCode::UnsupportedOperation { 4 } else { code.http_status() / 100 };
            assert_eq!(here, there, "{code}");
        }
    }
}
