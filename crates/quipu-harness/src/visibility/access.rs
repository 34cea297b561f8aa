//! What a caller may read, in this protocol's words. The rule itself is the Field's (`quipu_core::visibility`), and the
//! other protocol asks the same.

use quipu_core::{DocumentKind, Reader, State, state::TaskEntry, visibility::Error as NotHere};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{HarnError, HarnErrorCode, ResourceKind, TaskState},
};

use crate::{
    Caller, Harness, not_found,
    stored::built_in::{WORKSPACE_DEFAULT, session_in_field},
};

/// Whether the caller may read what belongs to a session; what belongs to the built-in one belongs to none.
pub(crate) fn reaches(state: &State, caller: &Caller, session: Option<&str>) -> bool {
    reader_reaches(state, &caller.reader(), session)
}

/// The same, for many things.
pub(crate) fn reader_reaches(state: &State, reader: &Reader, session: Option<&str>) -> bool {
    reader.reaches(state, session.and_then(session_in_field))
}

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
    /// Whether the caller may read what belongs to a session. What belongs to none, everybody may who reads at all.
    pub(crate) fn reaches(&self, caller: &Caller, session: Option<&str>) -> bool {
        self.field.with_state(|state| reaches(state, caller, session))
    }

    /// The authority that a caller has in a session; in none, its own.
    pub(crate) fn authority_of(&self, caller: &Caller, session: Option<&str>) -> u8 {
        self.field.with_state(|state| caller.authority_within(state, session))
    }

    /// Whether there is a Session that the caller may know of. Reading what is in it is another matter.
    pub(crate) fn knows_session(&self, caller: &Caller, id: &str) -> bool {
        id == crate::SESSION_DEFAULT
            || self.field.with_state(|state| {
                let session = state.sessions.get(id);
                session.is_some_and(|session| caller.reader().knows_session(state, session))
            })
    }

    /// The Session is one that the caller may know of.
    pub(crate) fn check_session_visible(&self, caller: &Caller, id: &str) -> Result<(), HarnError> {
        if self.knows_session(caller, id) {
            Ok(())
        } else {
            Err(not_found(ResourceKind::Session, id))
        }
    }

    /// The Session is one in which the caller may read.
    ///
    /// # Errors
    /// 404 for one that it may not know of, 403 for one that it is no member of.
    pub fn check_session(&self, caller: &Caller, id: &str) -> Result<(), HarnError> {
        self.check_session_visible(caller, id)?;
        if self.reaches(caller, Some(id)) {
            return Ok(());
        }
        let (agent, session) = (caller.agent.clone(), id.to_owned());
        let refused = NotHere::NotAMember { agent, session };
        Err(HarnError::new(HarnErrorCode::PermissionDenied, refused.to_string()))
    }
}
