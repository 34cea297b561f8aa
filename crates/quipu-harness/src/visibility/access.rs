//! What a caller may know of: what belongs to a session that it may know of, and what belongs to none.

use quipu_core::{DocumentKind, State, state::TaskEntry};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{HarnError, ResourceKind, TaskState},
};

use crate::{Caller, Harness, not_found, stored::built_in::WORKSPACE_DEFAULT};

/// Whether the caller may know of what belongs to a session.
pub(crate) fn may_know(state: &State, caller: &Caller, session: Option<&str>) -> bool {
    let session = session.and_then(|id| state.sessions.get(id));
    session.is_none_or(|session| {
        quipu_core::visibility::may_know(session, &caller.agent, caller.authority)
    })
}

/// The Workspace that a session belongs to.
pub(crate) fn workspace_of(state: &State, session: Option<&str>) -> String {
    let document = session.and_then(|id| state.documents.get(DocumentKind::Session, id));
    let workspace = document.and_then(|entry| entry.owner.workspace.clone());
    workspace.unwrap_or_else(|| WORKSPACE_DEFAULT.to_owned())
}

/// Where a task stands in this protocol's words. It has not ended before its receipt can be read.
pub(crate) fn status_of(state: &State, id: &str, entry: &TaskEntry) -> TaskState {
    if state.endings.waits(id) {
        return TaskState::Working;
    }
    match entry.status {
        // A worker that is lost does not undo that work began.
        TaskStatus::Pending | TaskStatus::Assigned if entry.started_ms.is_none() => {
            TaskState::Submitted
        }
        TaskStatus::Pending | TaskStatus::Assigned | TaskStatus::InProgress => TaskState::Working,
        TaskStatus::Blocked if entry.awaits_auth => TaskState::AuthRequired,
        TaskStatus::Blocked => TaskState::InputRequired,
        TaskStatus::Completed => TaskState::Completed,
        TaskStatus::Failed => TaskState::Failed,
        TaskStatus::Cancelled => TaskState::Canceled,
    }
}

impl Harness {
    /// Whether the caller may know of what belongs to a session. What belongs to none, everybody may.
    pub(crate) fn may_know(&self, caller: &Caller, session: Option<&str>) -> bool {
        self.field.with_state(|state| may_know(state, caller, session))
    }

    /// The Session's stream is one that the caller may know of.
    ///
    /// # Errors
    /// 404 otherwise.
    pub fn check_session(&self, caller: &Caller, id: &str) -> Result<(), HarnError> {
        let known = id == crate::SESSION_DEFAULT
            || self.field.with_state(|state| state.sessions.get(id).is_some())
                && self.may_know(caller, Some(id));
        if known { Ok(()) } else { Err(not_found(ResourceKind::Session, id)) }
    }
}
