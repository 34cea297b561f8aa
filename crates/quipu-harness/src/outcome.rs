//! Outcomes: how Tasks ended. Written by whoever ends a Task, and by the notary.

use quipu_wire::harn::{HarnError, List, Outcome};

use crate::{Caller, Harness, page::Page};

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
        self.list(caller, page, |entry| wanted(entry.owner.task.as_deref())).await
    }

    /// `GET /v1/outcomes/{outcome_id}`.
    ///
    /// # Errors
    /// Where there is none that the caller may know of.
    pub async fn outcome(&self, caller: &Caller, id: &str) -> Result<Outcome, HarnError> {
        self.get(caller, id).await
    }
}
