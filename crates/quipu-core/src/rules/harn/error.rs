//! Why a write of this protocol is refused.

use quipu_wire::{ErrorCode, akashik::TaskStatus};

use crate::event::documents::DocumentKind;

/// Why a write is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is none, or none that the actor may know of.
    #[error("no {kind:?} {id}")]
    NotFound {
        /// What it would be.
        kind: DocumentKind,
        /// Its id.
        id: String,
    },
    /// The id was used before.
    #[error("{kind:?} {id} is there already")]
    IdTaken {
        /// What it is.
        kind: DocumentKind,
        /// Its id.
        id: String,
    },
    /// The task recorded something under this key already.
    #[error("key: task {task} recorded {key} already")]
    KeyTaken {
        /// The task.
        task: String,
        /// The key.
        key: String,
    },
    /// Somebody else has the task.
    #[error("task {task} is held by {holder}")]
    Held {
        /// The task.
        task: String,
        /// Who has it.
        holder: String,
    },
    /// The actor does not have the task.
    #[error("task {task} is not held by {agent}; claim it first")]
    NotHeld {
        /// The task.
        task: String,
        /// Who asked.
        agent: String,
    },
    /// The actor neither has nor made the task.
    #[error("task {task} is neither held nor was made by {agent}")]
    OfOthers {
        /// The task.
        task: String,
        /// Who asked.
        agent: String,
    },
    /// It cannot go there from where it stands.
    #[error("task {task} is {status}, and cannot be {wanted}")]
    IllegalMove {
        /// The task.
        task: String,
        /// Where it stands.
        status: TaskStatus,
        /// What was asked for.
        wanted: &'static str,
    },
    /// What was read, changed and put back was changed by another node meanwhile.
    #[error("what this rests on has changed meanwhile: ask again")]
    Changed,
    /// The session is over.
    #[error("session {session} is over")]
    SessionOver {
        /// The session.
        session: String,
    },
}

impl Error {
    /// The code to answer with.
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
