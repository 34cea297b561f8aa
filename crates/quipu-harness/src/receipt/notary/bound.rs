//! The event log by which a receipt binds its run: its last line, and the Artifact that it is kept as.

use quipu_core::rules::harn::DocumentDraft;
use quipu_core::{DocumentKind, DocumentOwner, rules::harn::Expect};
use quipu_replay::receipt::{EventLogFact, Run, TaskBinding};
use quipu_wire::{
    harn::{
        Artifact, ArtifactKind, ArtifactObject, HarnError, HarnTask, Outcome, ResourceEnvelope,
        ResourceKind, Sha256, TaskState, Visibility,
    },
    hash::Hasher,
    json::timestamp::rfc3339,
};

use super::{
    issue::event_log_fact,
    outcome::status,
    story::{Ending, Story},
};
use crate::{
    Harness,
    handle::failure::internal_error,
    not_found,
    stored::{
        artifact_marks::LogMarks,
        named_after::{event_log_artifact, outcome_id},
    },
    task::tasks::TaskView,
};

const EVENT_LOG: &str = "application/jsonl";

/// The event log of a receipt that is being made.
pub(crate) struct BoundLog {
    pub(super) receipt_id: String,
    pub(super) fact: EventLogFact,
    marks: LogMarks,
}

impl Harness {
    /// What a receipt binds: the lines of the log so far, and the Task as it ends. Reads storage.
    pub(super) fn bind_log(
        &self,
        run: Run,
        receipt_id: &str,
        story: &Story,
        outcome: &Outcome,
    ) -> Result<BoundLog, HarnError> {
        let failed = |error: String| internal_error(error);
        let task = self.task_as_ended(&story.task, &story.ending, receipt_id, outcome)?;
        let kept = story.artifacts.values().map(|artifact| (artifact, self.keeps(artifact)));
        let shown: Vec<(Artifact, bool)> = kept
            .map(|(artifact, kept)| {
                let mut artifact = artifact.clone();
                let log = artifact.envelope.metadata.len();
                LogMarks::remove(&mut artifact.envelope.metadata);
                let is_log = artifact.envelope.metadata.len() < log;
                (artifact, kept || is_log)
            })
            .collect();
        let mut outcome = outcome.clone();
        self.set_artifact_times(&mut outcome);
        let artifacts = shown.iter().map(|(artifact, kept)| (artifact, *kept));
        let binding = TaskBinding::of(run, &task, Some(&outcome), artifacts);
        let binding = binding.map_err(|error| failed(error.to_string()))?;
        let mut log: Hasher = match run {
            Run::Worked => story.log.clone(),
            Run::Replayed => self.replayed_log(&story.task)?,
        };
        log.update(&binding.line().map_err(|error| failed(error.to_string()))?);
        let binds = serde_json::to_value(&binding).map_err(|error| failed(error.to_string()))?;
        Ok(BoundLog {
            receipt_id: receipt_id.to_owned(),
            fact: event_log_fact(&story.task, receipt_id, Sha256(log.finish())),
            marks: LogMarks { until: story.ending.position, binds: Some(binds) },
        })
    }

    /// Whether an export has the content of an Artifact.
    fn keeps(&self, artifact: &Artifact) -> bool {
        self.held(artifact).is_some_and(|digest| self.has_content(&digest))
    }

    /// A Task as it is from the settling of an ending on.
    fn task_as_ended(
        &self,
        id: &str,
        ending: &Ending,
        receipt_id: &str,
        outcome: &Outcome,
    ) -> Result<HarnTask, HarnError> {
        let view = self.field.with_state(|state| TaskView::any(state, id));
        let view = view.ok_or_else(|| not_found(ResourceKind::Task, id))?;
        let mut task = self.exported_task(&view)?;
        if self.is_imported(&view)? {
            task.receipt_id = Some(receipt_id.to_owned());
            return Ok(task);
        }
        let at = || Some(rfc3339(ending.at_ms));
        task.status = match status(ending.status) {
            quipu_wire::harn::OutcomeStatus::Succeeded => TaskState::Completed,
            quipu_wire::harn::OutcomeStatus::Failed => TaskState::Failed,
            quipu_wire::harn::OutcomeStatus::Canceled => TaskState::Canceled,
        };
        let canceled = task.status == TaskState::Canceled;
        (task.completed_at, task.canceled_at) = if canceled { (None, at()) } else { (at(), None) };
        task.envelope.updated_at = rfc3339(ending.at_ms);
        task.failure.clone_from(&outcome.failure);
        task.outcome_id = Some(outcome_id(id));
        task.receipt_id = Some(receipt_id.to_owned());
        Ok(task)
    }

    /// The Artifact of a log. Its content is the log itself, and is read from there when somebody asks for it.
    pub(super) fn log_draft(
        &self,
        log: &BoundLog,
        owner: DocumentOwner,
    ) -> Result<DocumentDraft, HarnError> {
        let mut envelope = ResourceEnvelope::new(event_log_artifact(&log.fact.id), "");
        log.marks.clone().set(&mut envelope.metadata);
        let artifact = Artifact {
            object: ArtifactObject::Artifact,
            envelope,
            kind: ArtifactKind::Log,
            mime_type: EVENT_LOG.to_owned(),
            uri: Some(log.fact.uri.clone()),
            visibility: Visibility::Public,
            sha256: Some(log.fact.sha256.bare()),
            workspace_id: owner.workspace.clone(),
            session_id: owner.session.clone(),
            task_id: owner.task.clone(),
            receipt_id: Some(log.receipt_id.clone()),
        };
        let id = artifact.envelope.id.clone();
        self.draft(DocumentKind::Artifact, &id, owner, Expect::New, &artifact)
    }
}
