//! Why a HANDOFF is refused.

use quipu_wire::{
    ErrorCode,
    akashik::{HandoffAction, HandoffStatus},
};

/// Why a handoff cannot be made or answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is none, or none that the sender has a part in.
    #[error("payload.handoff_id: no handoff {handoff}")]
    NotFound {
        /// What was named.
        handoff: String,
    },
    /// What belongs into the package is not there.
    #[error("payload.context.{list}: nothing has the id {id}")]
    ContextNotFound {
        /// Where it was named.
        list: &'static str,
        /// What was named.
        id: String,
    },
    /// The task is one that the sender may not know of.
    #[error("payload.task_id: no task {task}")]
    TaskNotFound {
        /// What was named.
        task: String,
    },
    /// There is nobody of that name.
    #[error("payload.to_agent: {agent} is not a registered agent")]
    NoSuchAgent {
        /// The agent that was named.
        agent: String,
    },
    /// A task cannot be handed to the agent that has it, or to one that cannot see it.
    #[error("payload.to_agent: {agent} cannot take over: {why}")]
    WrongAgent {
        /// The agent that was named.
        agent: String,
        /// Why not.
        why: &'static str,
    },
    /// The task is not to be had.
    #[error("payload.task_id: {task} cannot be handed over: {why}")]
    WrongTask {
        /// Which task.
        task: String,
        /// Why not.
        why: &'static str,
    },
    /// It was answered already.
    #[error("payload.action: cannot {action} {handoff}, which is {status}")]
    IllegalMove {
        /// Which handoff.
        handoff: String,
        /// What was asked for.
        action: HandoffAction,
        /// Where it stands.
        status: HandoffStatus,
    },
}

impl Error {
    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. }
            | Self::ContextNotFound { .. }
            | Self::TaskNotFound { .. }
            | Self::NoSuchAgent { .. } => ErrorCode::UnitNotFound,
            Self::WrongAgent { .. } | Self::WrongTask { .. } | Self::IllegalMove { .. } => {
                ErrorCode::InvalidTransition
            }
        }
    }
}
