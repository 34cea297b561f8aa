//! A finished Task as one document: what another server takes in, and what its receipt is compared with here.

use quipu_core::{DocumentKind, Event as Logged, state::DocumentEntry};
use quipu_replay::receipt::{BoundLog, bound_log};
use quipu_wire::{
    harn::{
        Artifact, ExportedArtifact, ExportedEvent, HarnError, HarnErrorCode, HarnTask, Outcome,
        Receipt, TaskExport, TaskExportFormat, TaskExportObject,
    },
    json::base64,
};

use crate::{
    Caller, Harness,
    handle::failure::harn_error,
    receipt::notary::issue::artifact_uri,
    recording::{exported::exported_event, worked::Break},
    stored::{artifact_marks::LogMarks, named_after::outcome_id},
    task::tasks::TaskView,
};

/// The most events of a Task that are one document.
pub(crate) const EVENTS_MAX: usize = 100_000;

impl Harness {
    /// The document of a Task that is over. Reads storage.
    pub(crate) fn exported(
        &self,
        caller: &Caller,
        view: &TaskView,
    ) -> Result<TaskExport, HarnError> {
        let id = &view.id;
        let receipt = self.receipt_of(id)?;
        let mut task = self.exported_task(view)?;
        let outcome = self.exported_outcome(caller, id, receipt.as_ref())?;
        if !self.is_imported(view)? {
            task.failure = outcome.as_ref().and_then(|outcome| outcome.failure.clone());
            task.outcome_id = outcome.as_ref().map(|outcome| outcome.envelope.id.clone());
        }
        task.receipt_id = receipt.as_ref().map(|receipt| receipt.receipt_id.clone());
        let mut export = TaskExport {
            object: TaskExportObject::TaskExport,
            format: TaskExportFormat::V1,
            task,
            events: self.exported_events(id)?,
            artifacts: self.exported_artifacts(caller, id)?,
            outcome,
            receipt,
        };
        leave_out_what_came_later(&mut export);
        Ok(export)
    }

    /// The Task alone, whoever asks. One from another server is what it was there. Reads storage.
    pub(crate) fn exported_task(&self, view: &TaskView) -> Result<HarnTask, HarnError> {
        let document = self.task_document(view)?;
        if self.is_imported(view)? {
            return Ok(document);
        }
        let mut task = self.show_task(&Caller::new("", 0), view.clone())?;
        task.input = document.input;
        Ok(task)
    }

    /// Whether a Task came from another server. Reads storage.
    pub(crate) fn is_imported(&self, view: &TaskView) -> Result<bool, HarnError> {
        let (header, _) = self.commit(view.entry.position)?;
        Ok(header.events.iter().any(|sealed| {
            matches!(&sealed.event, Logged::TaskNoted { task, note }
                if *task == view.id && note.imported.is_some())
        }))
    }

    fn exported_events(&self, task: &str) -> Result<Vec<ExportedEvent>, HarnError> {
        let mut events = Vec::new();
        for recorded in self.recording(task)? {
            let recorded = recorded.map_err(|unreadable| match unreadable {
                Break::Storage(error) => error,
                Break::Missing(missing) => gone(&missing.to_string()),
            })?;
            if events.len() == EVENTS_MAX {
                let message = format!("task {task} has more than {EVENTS_MAX} events");
                return Err(HarnError::new(HarnErrorCode::PayloadTooLarge, message));
            }
            events.push(exported_event(recorded));
        }
        Ok(events)
    }

    fn exported_outcome(
        &self,
        caller: &Caller,
        task: &str,
        receipt: Option<&Receipt>,
    ) -> Result<Option<Outcome>, HarnError> {
        let id = outcome_id(task);
        let entry =
            self.field.with_state(|state| state.documents.get(DocumentKind::Outcome, &id).cloned());
        let Some(entry) = entry else { return Ok(None) };
        if !self.sees_quoted(caller, &entry) {
            return Err(gone(&format!("{id} repeats a Memory that is not for the caller")));
        }
        // What was erased leaves a descriptor that it was there.
        let mut outcome: Outcome = self.show(caller, &entry)?;
        self.set_artifact_times(&mut outcome);
        if let Some(receipt) = receipt {
            // It is what the receipt was issued for, whenever this server wrote it down.
            outcome.envelope.created_at.clone_from(&receipt.issued_at);
            outcome.envelope.updated_at.clone_from(&receipt.issued_at);
        }
        Ok(Some(outcome))
    }

    fn exported_artifacts(
        &self,
        caller: &Caller,
        task: &str,
    ) -> Result<Vec<ExportedArtifact>, HarnError> {
        let entries: Vec<DocumentEntry> = self.field.with_state(|state| {
            let made = state.documents.of_task(DocumentKind::Artifact, task);
            made.map(|(_, entry)| entry.clone()).collect()
        });
        let mut artifacts = Vec::new();
        for entry in entries {
            let body = self.field.body_at::<Artifact>(entry.at);
            if let Some(artifact) = body.map_err(|error| harn_error(&error))? {
                artifacts.push(self.exported_artifact(caller, &entry, artifact)?);
            }
        }
        Ok(artifacts)
    }

    fn exported_artifact(
        &self,
        caller: &Caller,
        entry: &DocumentEntry,
        mut artifact: Artifact,
    ) -> Result<ExportedArtifact, HarnError> {
        // The event log is made from the log here, and has to be written out for others.
        let marks = LogMarks::read(entry, &artifact.envelope.metadata);
        LogMarks::remove(&mut artifact.envelope.metadata);
        let content = match marks.zip(entry.owner.task.as_deref()) {
            Some((marks, task)) => Some(self.event_log(task, &marks)?),
            None if self.sees_content(caller, &artifact) => {
                self.bytes_of(&artifact)?.map(|(_, bytes)| bytes)
            }
            None => None,
        };
        let content_base64 = content.map(|bytes| base64::encode(&bytes));
        Ok(ExportedArtifact { artifact, content_base64 })
    }
}

/// Leaves out what was told of a Task, or made for it, after its receipt was issued.
fn leave_out_what_came_later(export: &mut TaskExport) {
    let Some(uri) = export.receipt.as_ref().and_then(bound_log).and_then(|it| it.uri.clone())
    else {
        return;
    };
    let is_log = |id: &str| uri == artifact_uri(id);
    let log = export.artifacts.iter().find(|it| is_log(&it.artifact.envelope.id));
    let content = log.and_then(|it| base64::decode(it.content_base64.as_deref()?));
    let Some(BoundLog { lines, binding }) = content.and_then(|bytes| BoundLog::read(&bytes)) else {
        return;
    };
    export.events.truncate(lines.len());
    export
        .artifacts
        .sort_by(|one, other| one.artifact.envelope.id.cmp(&other.artifact.envelope.id));
    export.artifacts.retain(|it| {
        let id = &it.artifact.envelope.id;
        is_log(id) || binding.artifacts.contains_key(id)
    });
}

fn gone(message: &str) -> HarnError {
    HarnError::new(HarnErrorCode::Conflict, message.to_owned())
}
