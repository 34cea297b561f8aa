//! Why a HANDOFF is refused.

use quipu_wire::{
    ErrorCode,
    akashik::{HandoffAction, HandoffStatus},
};

/// Why a handoff cannot be made or answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("payload.handoff_id: no handoff {handoff}")]
    NotFound { handoff: String },
    #[error("payload.context.{list}: nothing has the id {id}")]
    ContextNotFound { list: &'static str, id: String },
    #[error("payload.task_id: no task {task}")]
    TaskNotFound { task: String },
    #[error("payload.to_agent: {agent} is not a registered agent")]
    NoSuchAgent { agent: String },
    /// A task cannot be handed to the agent that has it, or to one that cannot see it.
    #[error("payload.to_agent: {agent} cannot take over: {why}")]
    WrongAgent { agent: String, why: &'static str },
    #[error("payload.task_id: {task} cannot be handed over: {why}")]
    WrongTask { task: String, why: &'static str },
    #[error("payload.action: cannot {action} {handoff}, which is {status}")]
    IllegalMove { handoff: String, action: HandoffAction, status: HandoffStatus },
}

impl Error {
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
