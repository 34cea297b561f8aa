//! Outcomes: how Tasks ended. Written by whoever ends a Task, and by the notary.

use quipu_core::DocumentKind;
use quipu_wire::{
    harn::{Artifact, HarnError, List, Outcome},
    json::timestamp::rfc3339,
};

use crate::{Caller, Harness, handle::page::Page, visibility::parts};

impl Harness {
    /// `GET /v1/outcomes`, of one Task where one is named.
    ///
    /// # Errors
    /// Where the log cannot be read.
    pub async fn outcomes(
        &self,
        caller: &Caller,
        page: Page,
        task: Option<&str>,
    ) -> Result<List<Outcome>, HarnError> {
        let wanted = |of: Option<&str>| task.is_none() || of == task;
        let list = self.list(caller, page, |entry| wanted(entry.owner.task.as_deref()));
        let mut list: List<Outcome> = list.await?;
        list.data = list.data.into_iter().map(|each| self.show_outcome(caller, each)).collect();
        Ok(list)
    }

    /// `GET /v1/outcomes/{outcome_id}`.
    ///
    /// # Errors
    /// Where there is none that the caller may know of.
    pub async fn outcome(&self, caller: &Caller, id: &str) -> Result<Outcome, HarnError> {
        Ok(self.show_outcome(caller, self.get(caller, id).await?))
    }

    /// The Outcome as the caller sees it: an Artifact in it is shown no further than it is by itself.
    fn show_outcome(&self, caller: &Caller, mut outcome: Outcome) -> Outcome {
        self.set_artifact_times(&mut outcome);
        let shown = |artifact: Artifact| {
            let within = self.reaches(caller, artifact.session_id.as_deref());
            match within {
                true => parts::artifact(caller, artifact),
                false => parts::hidden(artifact, "hidden"),
            }
        };
        outcome.artifacts = outcome.artifacts.into_iter().map(shown).collect();
        outcome
    }

    /// The times of the Artifacts in an Outcome are those of their own documents: where one was made in the
    /// commit before, nobody knew them yet.
    pub(crate) fn set_artifact_times(&self, outcome: &mut Outcome) {
        self.field.with_state(|state| {
            for artifact in &mut outcome.artifacts {
                let envelope = &mut artifact.envelope;
                if let Some(entry) = state.documents.get(DocumentKind::Artifact, &envelope.id) {
                    envelope.created_at = rfc3339(entry.created_ms);
                    envelope.updated_at = rfc3339(entry.updated_ms);
                }
            }
        });
    }
}
