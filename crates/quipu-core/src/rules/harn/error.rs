//! Why a write of this protocol is refused.

use quipu_wire::{ErrorCode, akashik::TaskStatus};

use crate::event::documents::DocumentKind;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("no {kind:?} {id}")]
    NotFound { kind: DocumentKind, id: String },
    #[error("{kind:?} {id} is there already")]
    IdTaken { kind: DocumentKind, id: String },
    #[error("key: task {task} recorded {key} already")]
    KeyTaken { task: String, key: String },
    #[error("task {task} is held by {holder}")]
    Held { task: String, holder: String },
    #[error("task {task} is not held by {agent}; claim it first")]
    NotHeld { task: String, agent: String },
    #[error("task {task} is neither held nor was made by {agent}")]
    OfOthers { task: String, agent: String },
    #[error("task {task} is {status}, and cannot be {wanted}")]
    IllegalMove { task: String, status: TaskStatus, wanted: &'static str },
    #[error("another request changed what this one depends on: send it again")]
    Changed,
    #[error("session {session} is over")]
    SessionOver { session: String },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::UnitNotFound,
            Self::Changed => ErrorCode::Overloaded,
            Self::OfOthers { .. } => ErrorCode::InsufficientAuthority,
            Self::IdTaken { .. }
            | Self::KeyTaken { .. }
            | Self::Held { .. }
            | Self::NotHeld { .. }
            | Self::IllegalMove { .. }
            | Self::SessionOver { .. } => ErrorCode::InvalidTransition,
        }
    }
}
