//! What a Field answers instead of a result, as Akashik puts it: the one place where the types of `quipu-field` become
//! the protocol's error object. MCP calls the same routes, so it gets the same.

use quipu_field::FieldError;
use quipu_wire::{ProtocolError, akashik::Operation};

use crate::pipeline::answer::Refused;

pub(crate) fn akashik_error(error: &FieldError) -> ProtocolError {
    ProtocolError::new(error.code(), error.to_string())
}

/// What was asked of a Field outside of the protocol's operations.
impl From<FieldError> for Refused {
    fn from(error: FieldError) -> Self {
        akashik_error(&error).into()
    }
}

/// Says of a Field's error which operation it refused.
pub(crate) trait During<T> {
    /// The same outcome; an error names the operation.
    fn during(self, operation: Operation) -> Result<T, Refused>;
}

impl<T> During<T> for Result<T, FieldError> {
    fn during(self, operation: Operation) -> Result<T, Refused> {
        self.map_err(|error| akashik_error(&error).during(operation).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_core::{
        Refusal,
        rules::{compact, harn},
    };
    use quipu_field::{EpochError, Overload, RequestError, Unavailable};
    use quipu_log::EngineError;
    use quipu_wire::ErrorCode;

    #[test]
    fn each_class_of_a_fields_error_has_its_documented_code() {
        let full = FieldError::from(EngineError::Full);
        let damaged = FieldError::from(EngineError::Poisoned { reason: "fsync".to_owned() });
        let stranger = Refusal::AgentNotRegistered { agent: "a".to_owned() };
        for (error, code) in [
            (stranger.into(), ErrorCode::AgentNotRegistered),
            (Refusal::from(compact::Error::Changed).into(), ErrorCode::Overloaded),
            (Refusal::from(harn::Error::Changed).into(), ErrorCode::Overloaded),
            (RequestError::CursorUnreadable.into(), ErrorCode::InvalidPayload),
            (RequestError::UnitNotFound { id: "u".to_owned() }.into(), ErrorCode::UnitNotFound),
            (EpochError::Exhausted.into(), ErrorCode::EpochOverflow),
            (full, ErrorCode::StorageFull),
            (damaged, ErrorCode::FieldUnavailable),
            (Overload::QueueFull.into(), ErrorCode::Overloaded),
            (FieldError::OutcomeUnknown { unknown: "what" }, ErrorCode::FieldUnavailable),
            (Unavailable::Closed.into(), ErrorCode::FieldUnavailable),
            (FieldError::Internal("lost".to_owned()), ErrorCode::InternalError),
        ] {
            let told = akashik_error(&error);
            assert_eq!((told.code, &told.message), (code, &error.to_string()));
            assert_eq!(told.operation, None);
        }
    }
}
