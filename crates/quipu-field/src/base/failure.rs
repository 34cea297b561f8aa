//! How a failure of storage is reported to a client, and whether the Field can go on after it.

use quipu_log::EngineError;
use quipu_wire::{ErrorCode, ProtocolError, json::canon::CanonError};

use crate::base::limits::ANSWER_WAIT;

/// The protocol's error for a failure of the engine. What the operator needs is in the server's log;
/// the client learns what it can act on.
#[must_use]
pub(crate) fn storage_failure(error: &EngineError) -> ProtocolError {
    match error {
        EngineError::Full => ProtocolError::new(
            ErrorCode::StorageFull,
            "the log has no room left: nothing was recorded, reads go on",
        ),
        EngineError::Sealed { field } => ProtocolError::new(
            ErrorCode::FieldUnavailable,
            format!(
                "the log of field {field} is sealed: it was moved elsewhere, or is being moved here; reads go on"
            ),
        ),
        EngineError::Unavailable { .. }
        | EngineError::Poisoned { .. }
        | EngineError::Damaged(_)
        | EngineError::HeadMoved { .. }
        | EngineError::Io { .. } => {
            ProtocolError::new(ErrorCode::FieldUnavailable, format!("the log failed: {error}"))
        }
        EngineError::UnknownField { .. } | EngineError::InvalidBatch { .. } => {
            ProtocolError::new(ErrorCode::InternalError, format!("the log refused: {error}"))
        }
    }
}

/// The protocol's error for what has no canonical form, and so cannot be recorded.
#[must_use]
pub(crate) fn unwritable(error: &CanonError) -> ProtocolError {
    ProtocolError::new(ErrorCode::InvalidPayload, error.to_string())
}

/// The protocol's error for a log that has not answered for as long as somebody waits.
#[must_use]
pub(crate) fn unanswered(unknown: &str) -> ProtocolError {
    let seconds = ANSWER_WAIT.as_secs();
    let what = format!("the log has not answered for {seconds} s: {unknown}");
    ProtocolError::new(ErrorCode::FieldUnavailable, what)
}

/// An error with its causes, for the operator.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
