//! Why a Field does not do what was asked of it: by its type, so that a caller can act on it without reading the
//! sentence. How a protocol puts it is that protocol's business.

use std::sync::Arc;

use quipu_core::{Refusal, cursor::Cursor};
use quipu_log::EngineError;
use quipu_wire::{
    ErrorCode,
    json::canon::CanonError,
    limits::{EPOCH_JUMP_MAX, SAFE_INTEGER_MAX},
};

use crate::base::{
    limits::{ANSWER_WAIT, CONFLICTS_MAX, QUEUE_COMMANDS_MAX},
    unavailable::Unavailable,
};

#[derive(Debug, Clone, thiserror::Error)]
pub enum FieldError {
    /// A rule says no: a fact about the Field, never a failure of ours.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Epoch(#[from] EpochError),
    #[error("{}", describe(.0))]
    Storage(#[source] Arc<EngineError>),
    /// Nothing was done, and the same request may succeed in a moment.
    #[error(transparent)]
    Overloaded(#[from] Overload),
    #[error("the log has not answered for {} s: {unknown}", ANSWER_WAIT.as_secs())]
    OutcomeUnknown { unknown: &'static str },
    /// The Field is closed, or takes no more writes, or what it needs besides the log is not usable.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// A defect of ours.
    #[error("{0}")]
    Internal(String),
}

impl FieldError {
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Request(error) => error.code(),
            Self::Epoch(error) => error.code(),
            Self::Storage(error) => storage_code(error),
            Self::Overloaded(Overload::TurnsTaken { .. }) => ErrorCode::RateLimited,
            Self::Overloaded(_) => ErrorCode::Overloaded,
            Self::OutcomeUnknown { .. } | Self::Unavailable(_) => ErrorCode::FieldUnavailable,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }
}

impl From<EngineError> for FieldError {
    fn from(error: EngineError) -> Self {
        Self::Storage(Arc::new(error))
    }
}

fn storage_code(error: &EngineError) -> ErrorCode {
    match error {
        EngineError::Full => ErrorCode::StorageFull,
        EngineError::Sealed { .. }
        | EngineError::Unavailable { .. }
        | EngineError::Poisoned { .. }
        | EngineError::Damaged(_)
        | EngineError::HeadMoved { .. }
        | EngineError::Io { .. } => ErrorCode::FieldUnavailable,
        EngineError::UnknownField { .. } | EngineError::InvalidBatch { .. } => {
            ErrorCode::InternalError
        }
    }
}

/// What a client learns of a failure of the log. Its causes are in the server's own log.
fn describe(error: &EngineError) -> String {
    match error {
        EngineError::Full => {
            "the log has no room left: nothing was recorded, reads go on".to_owned()
        }
        EngineError::Sealed { field } => format!(
            "the log of field {field} is sealed: it was moved elsewhere, or is being moved here; reads go on"
        ),
        EngineError::Unavailable { .. }
        | EngineError::Poisoned { .. }
        | EngineError::Damaged(_)
        | EngineError::HeadMoved { .. }
        | EngineError::Io { .. } => format!("the log failed: {error}"),
        EngineError::UnknownField { .. } | EngineError::InvalidBatch { .. } => {
            format!("the log refused: {error}")
        }
    }
}

/// Why a request cannot be carried out as it is, whatever the Field holds later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// What it says has no canonical form, and so cannot be recorded.
    #[error(transparent)]
    Unwritable(#[from] CanonError),
    #[error("id: no unit {id}")]
    UnitNotFound { id: String },
    #[error("there is no subscription {id}")]
    SubscriptionNotFound {
        /// The beginning of the id that was asked for.
        id: String,
    },
    #[error("position: {position} is not in a log of {size} commits")]
    CommitNotFound { position: u64, size: u64 },
    #[error("size: the log has only {size} commits")]
    LogTooShort { size: u64 },
    #[error("{0}")]
    Unprovable(String),
    #[error("payload.scope.as_of_epoch: {epoch} is in the future, the Field is at {now}")]
    FutureEpoch { epoch: u64, now: u64 },
    /// Nobody but this node appends, and the log does not reach there.
    #[error("Quipu-Min-Position: {position} is no position of this log, the log is at {here}")]
    NoSuchPosition {
        position: u64,
        /// The end of the log.
        here: u64,
    },
    #[error("after: is not a cursor of a push of this Field")]
    CursorUnreadable,
    #[error("payload.cursor: is no cursor of a scan")]
    ScanCursorUnknown,
    #[error("cursor: is none of this list")]
    ListCursorUnknown,
    #[error("after: {cursor} is beyond the end of the log")]
    CursorBeyondLog { cursor: Cursor },
}

impl RequestError {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::UnitNotFound { .. }
            | Self::SubscriptionNotFound { .. }
            | Self::CommitNotFound { .. } => ErrorCode::UnitNotFound,
            Self::Unwritable(_)
            | Self::LogTooShort { .. }
            | Self::Unprovable(_)
            | Self::FutureEpoch { .. }
            | Self::NoSuchPosition { .. }
            | Self::CursorUnreadable
            | Self::ScanCursorUnknown
            | Self::ListCursorUnknown
            | Self::CursorBeyondLog { .. } => ErrorCode::InvalidPayload,
        }
    }
}

/// Why the same request may succeed in a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Overload {
    #[error("{QUEUE_COMMANDS_MAX} messages are waiting already")]
    QueueFull,
    #[error("payload.scope.as_of_epoch: too many requests for the past wait already")]
    PastQueueFull,
    /// A read brings an epoch that is not in the log yet.
    #[error("epoch: the log has not caught up with {received} yet")]
    ClockBehind { received: u64 },
    #[error("Quipu-Min-Position: {position} is not here yet, the log is at {here}")]
    NotHereYet { position: u64, here: u64 },
    /// One key asks for more than it has turns for.
    #[error("{waiting} requests of this key wait for their turn already")]
    TurnsTaken {
        /// How many wait.
        waiting: usize,
    },
    #[error("other nodes wrote first {CONFLICTS_MAX} times in a row")]
    OthersFaster,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EpochError {
    #[error("epoch: {received} is more than {EPOCH_JUMP_MAX} ahead of the Field's clock, {now}")]
    TooFar { received: u64, now: u64 },
    #[error("epoch: the Field's clock has reached its end, {SAFE_INTEGER_MAX}")]
    Exhausted,
}

impl EpochError {
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::TooFar { .. } => ErrorCode::InvalidPayload,
            Self::Exhausted => ErrorCode::EpochOverflow,
        }
    }
}
