//! The protocol's error object: what every refused request is answered with.

use serde::{Deserialize, Serialize};

use crate::{error::error_code::ErrorCode, operation::Operation};

/// An error as the protocol shapes it. RECORD and REGISTER add `status` and `rejection_reason`, so
/// that one body satisfies both of the protocol's ways to say no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProtocolError {
    /// `rejected`, where the operation's response has a status for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What went wrong.
    pub code: ErrorCode,
    /// A sentence that names the field or the value.
    pub message: String,
    /// The operation that was refused; null where the request never reached one.
    pub operation: Option<Operation>,
    /// Whether the caller can correct it and try again.
    pub recoverable: bool,
    /// What to do next.
    pub suggested_action: Option<String>,
    /// The message again, where the operation's response has a field for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection_reason: Option<String>,
}

impl ProtocolError {
    /// An error that belongs to no operation.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            status: None,
            code,
            message: message.into(),
            operation: None,
            recoverable: code.recoverable(),
            suggested_action: Some(code.suggested_action().to_owned()),
            rejection_reason: None,
        }
    }

    /// The same error, said of an operation, if there is one.
    #[must_use]
    pub fn during(mut self, operation: impl Into<Option<Operation>>) -> Self {
        let Some(operation) = operation.into() else { return self };
        self.operation = Some(operation);
        match operation {
            Operation::Record | Operation::Register => {
                self.status = Some("rejected".to_owned());
                self.rejection_reason = Some(self.message.clone());
            }
            // The protocol's own table: an agent that is already gone cannot be brought to leave.
            Operation::Deregister if self.code == ErrorCode::AgentNotRegistered => {
                self.recoverable = false;
            }
            Operation::Deregister
            | Operation::Attune
            | Operation::Detect
            | Operation::Merge
            | Operation::Subscribe
            | Operation::Replay
            | Operation::Compact
            | Operation::Coordinate
            | Operation::Handoff
            | Operation::Session => {}
        }
        self
    }
}
