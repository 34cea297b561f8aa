//! Why a COORDINATE is refused.

use quipu_wire::{
    ErrorCode,
    akashik::{TaskAction, TaskStatus},
};

/// Why a task cannot be had or moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is none, or none that the sender may know of.
    #[error("{path}: no task {task}")]
    NotFound {
        /// Where it was named.
        path: String,
        /// What was named.
        task: String,
    },
    /// What came of the task is not there.
    #[error("payload.task.result_unit_ids: no unit {unit}")]
    UnitNotFound {
        /// What was named.
        unit: String,
    },
    /// The agent that is to do it is not there.
    #[error("payload.assignee: {agent} is not a registered agent")]
    NoSuchAgent {
        /// The agent that was named.
        agent: String,
    },
    /// The agent that is to do it could not even see it.
    #[error("payload.assignee: {agent} is no member of the task's session")]
    AssigneeOutside {
        /// The agent that was named.
        agent: String,
    },
    /// The id is in use.
    #[error("payload.task.id: there is a task {task} already")]
    IdTaken {
        /// The id.
        task: String,
    },
    /// A task cannot wait for itself.
    #[error("payload.task.depends_on: {task} would depend on itself")]
    Cycle {
        /// The id.
        task: String,
    },
    /// It has to wait.
    #[error("payload.action: {task} depends on {dependency}, which is {status}")]
    DependencyOpen {
        /// The task.
        task: String,
        /// What it waits for.
        dependency: String,
        /// Where that stands.
        status: TaskStatus,
    },
    /// It cannot go there from where it stands.
    #[error("payload.action: cannot {action} {task}, which is {status}")]
    IllegalMove {
        /// Which task.
        task: String,
        /// What was asked for.
        action: TaskAction,
        /// Where it stands.
        status: TaskStatus,
    },
}

impl Error {
    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } | Self::UnitNotFound { .. } | Self::NoSuchAgent { .. } => {
                ErrorCode::UnitNotFound
            }
            Self::Cycle { .. } => ErrorCode::InvalidPayload,
            Self::AssigneeOutside { .. }
            | Self::IdTaken { .. }
            | Self::DependencyOpen { .. }
            | Self::IllegalMove { .. } => ErrorCode::InvalidTransition,
        }
    }
}
