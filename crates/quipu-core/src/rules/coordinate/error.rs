//! Why a COORDINATE is refused.

use quipu_wire::{
    ErrorCode,
    akashik::{TaskAction, TaskStatus},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{path}: no task {task}")]
    NotFound { path: String, task: String },
    #[error("payload.task.result_unit_ids: no unit {unit}")]
    UnitNotFound { unit: String },
    #[error("payload.assignee: {agent} is not a registered agent")]
    NoSuchAgent { agent: String },
    #[error("payload.assignee: {agent} is no member of the task's session")]
    AssigneeOutside { agent: String },
    #[error("payload.task.id: there is a task {task} already")]
    IdTaken { task: String },
    #[error("payload.task.depends_on: {task} would depend on itself")]
    Cycle { task: String },
    #[error("payload.action: {task} depends on {dependency}, which is {status}")]
    DependencyOpen { task: String, dependency: String, status: TaskStatus },
    #[error("payload.action: cannot {action} {task}, which is {status}")]
    IllegalMove { task: String, action: TaskAction, status: TaskStatus },
}

impl Error {
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
