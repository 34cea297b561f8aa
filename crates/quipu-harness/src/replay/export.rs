//! `GET /v1/tasks/{task_id}/export`: a finished Task as one document, for another server.

use quipu_replay::receipt::check_export;
use quipu_wire::harn::{HarnError, HarnErrorCode, TaskExport};

use crate::{Caller, Harness};

/// The authority that sees what is not for everybody, and brings in what happened elsewhere.
pub(crate) const AUTHORITY_EXCHANGE: u8 = 8;

impl Harness {
    /// `GET /v1/tasks/{task_id}/export`.
    ///
    /// # Errors
    /// 403 where the caller may not see all of it, 404 where there is none, 409 where it is not over, parts of it are
    /// gone or are no longer what its receipt proves, 413 where it is too long for one document.
    pub async fn export_task(&self, caller: &Caller, task: &str) -> Result<TaskExport, HarnError> {
        check_authority(caller)?;
        let view = self.view_task(caller, task)?;
        let state = self.settled_state(&view);
        let conflict = |message: String| HarnError::new(HarnErrorCode::Conflict, message);
        if !state.is_terminal() {
            let message = format!("task {task} is {state}; only a finished task can be exported");
            return Err(conflict(message));
        }
        let (caller, view) = (caller.clone(), view);
        let export = self.reading(move |harness| harness.exported(&caller, &view)).await?;
        check_export(&export).map_err(|differs| conflict(format!("task {task}: {differs}")))?;
        Ok(export)
    }
}

/// Only who sees everything may take a Task away or bring one.
pub(crate) fn check_authority(caller: &Caller) -> Result<(), HarnError> {
    if caller.authority >= AUTHORITY_EXCHANGE {
        return Ok(());
    }
    let message =
        format!("tasks are taken from server to server with authority {AUTHORITY_EXCHANGE}");
    Err(HarnError::new(HarnErrorCode::PermissionDenied, message))
}
