//! Outcomes: how Tasks ended. Written by whoever ends a Task, and by the notary.

use quipu_core::DocumentKind;
use quipu_wire::{
    harn::{HarnError, List, Outcome},
    json::timestamp::rfc3339,
};

use crate::{Caller, Harness, handle::page::Page};

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
        list.data.iter_mut().for_each(|outcome| self.set_artifact_times(outcome));
        Ok(list)
    }

    /// `GET /v1/outcomes/{outcome_id}`.
    ///
    /// # Errors
    /// Where there is none that the caller may know of.
    pub async fn outcome(&self, caller: &Caller, id: &str) -> Result<Outcome, HarnError> {
        let mut outcome = self.get(caller, id).await?;
        self.set_artifact_times(&mut outcome);
        Ok(outcome)
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
