//! `GET /v1/tasks/{task_id}/export`: a finished Task as one document, for another server.

use quipu_core::DocumentKind;
use quipu_replay::task::Material;
use quipu_wire::{
    harn::{
        Artifact, ExportedArtifact, ExportedDependency, ExportedEvent, HarnError, HarnErrorCode,
        Outcome, Sha256, TaskExport, TaskExportFormat, TaskExportObject,
    },
    json::base64,
};

use crate::{
    Caller, Harness,
    handle::failure::harn_error,
    recording::worked::{Break, Recorded},
    stored::artifact_marks::EVENT_LOG_UNTIL,
    task::tasks::{TaskView, outcome_id},
};

/// The authority that sees what is not for everybody, and brings in what happened elsewhere.
pub(crate) const AUTHORITY_EXCHANGE: u8 = 8;

pub(crate) const EVENTS_MAX: usize = 100_000;

impl Harness {
    /// `GET /v1/tasks/{task_id}/export`.
    ///
    /// # Errors
    /// 403 where the caller may not see all of it, 404 where there is none, 409 where it is not over or parts of
    /// it are gone, 413 where it is too long for one document.
    pub async fn export_task(&self, caller: &Caller, task: &str) -> Result<TaskExport, HarnError> {
        check_authority(caller)?;
        let view = self.view_task(caller, task)?;
        let state = self.settled_state(&view);
        if !state.is_terminal() {
            let message = format!("task {task} is {state}; only a finished task can be exported");
            return Err(HarnError::new(HarnErrorCode::Conflict, message));
        }
        let (caller, view) = (caller.clone(), view);
        self.reading(move |harness| harness.exported(&caller, view)).await
    }

    fn exported(&self, caller: &Caller, view: TaskView) -> Result<TaskExport, HarnError> {
        let document = self.task_document(&view)?;
        let id = view.id.clone();
        let mut task = self.show_task(caller, view)?;
        task.input = document.input;
        Ok(TaskExport {
            object: TaskExportObject::TaskExport,
            format: TaskExportFormat::V1,
            task,
            events: self.exported_events(&id)?,
            artifacts: self.exported_artifacts(caller, &id)?,
            outcome: self.exported_outcome(caller, &id)?,
            receipt: self.receipt_of(&id)?,
        })
    }

    fn exported_events(&self, task: &str) -> Result<Vec<ExportedEvent>, HarnError> {
        let mut events = Vec::new();
        for recorded in self.recording(task)? {
            let recorded = recorded.map_err(|unreadable| match unreadable {
                Break::Storage(error) => error,
                Break::Missing(missing) => {
                    HarnError::new(HarnErrorCode::Conflict, missing.to_string())
                }
            })?;
            if events.len() == EVENTS_MAX {
                let message = format!("task {task} has more than {EVENTS_MAX} events");
                return Err(HarnError::new(HarnErrorCode::PayloadTooLarge, message));
            }
            events.push(exported_event(recorded));
        }
        Ok(events)
    }

    fn exported_outcome(&self, caller: &Caller, task: &str) -> Result<Option<Outcome>, HarnError> {
        let entry = self.field.with_state(|state| {
            state.documents.get(DocumentKind::Outcome, &outcome_id(task)).cloned()
        });
        let mut outcome: Option<Outcome> =
            entry.map(|entry| self.show(caller, &entry)).transpose()?;
        outcome.iter_mut().for_each(|outcome| self.set_artifact_times(outcome));
        Ok(outcome)
    }

    fn exported_artifacts(
        &self,
        caller: &Caller,
        task: &str,
    ) -> Result<Vec<ExportedArtifact>, HarnError> {
        let places: Vec<_> = self.field.with_state(|state| {
            let made = state.documents.of_task(DocumentKind::Artifact, task);
            made.map(|(_, entry)| entry.at).collect()
        });
        let mut artifacts = Vec::new();
        for at in places {
            let body = self.field.body_at::<Artifact>(at).map_err(|error| harn_error(&error))?;
            if let Some(artifact) = body {
                artifacts.push(self.exported_artifact(caller, task, artifact)?);
            }
        }
        Ok(artifacts)
    }

    fn exported_artifact(
        &self,
        caller: &Caller,
        task: &str,
        mut artifact: Artifact,
    ) -> Result<ExportedArtifact, HarnError> {
        // The event log is made from the log here, and has to be written out for others.
        let until = artifact.envelope.metadata.remove(EVENT_LOG_UNTIL);
        let content = match until.and_then(|until| until.as_u64()) {
            Some(until) => Some(self.event_log(task, until)?),
            None if self.sees_content(caller, &artifact) => {
                self.bytes_of(&artifact)?.map(|(_, bytes)| bytes)
            }
            None => None,
        };
        let content_base64 = content.map(|bytes| base64::encode(&bytes));
        Ok(ExportedArtifact { artifact, content_base64 })
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

fn exported_event(recorded: Recorded) -> ExportedEvent {
    let Recorded { event, payload, .. } = recorded;
    let own = Sha256::of_json(&serde_json::Value::Object(payload.0.clone())).ok();
    let dependency = event.dependency.map(|dependency| {
        let (value, artifact_id) = match dependency.material {
            Material::Value(value) => (Some(value), None),
            Material::Artifact(id) => (None, Some(id)),
            Material::HashOnly | Material::Gone { .. } => (None, None),
        };
        ExportedDependency {
            key: dependency.key,
            kind: dependency.kind,
            sha256: Some(dependency.sha256),
            request_sha256: dependency.request_sha256,
            value,
            artifact_id,
        }
    });
    let digest = event.payload_sha256;
    ExportedEvent {
        id: event.event_id,
        event: event.event,
        sequence: event.sequence,
        created_at: event.at,
        visibility: event.visibility,
        payload,
        sha256: Some(digest).filter(|it| dependency.is_none() && own != Some(*it)),
        dependency,
        checkpoint_id: event.checkpoint_id,
    }
}
