//! Settling: Outcome, Receipt and event log of an ending in one commit, one ending after the other.

use quipu_core::{
    DocumentKind,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_replay::{
    receipt::{Run, bound_log},
    task::HashTrust,
};
use quipu_wire::harn::{HarnError, Outcome, Receipt, ReceiptPolicy};

use super::{previous::previous_receipt, profile::Profile, story::Story};
use crate::{
    Harness,
    handle::{
        failure::is_for_now,
        retry::{WriteError, retry_until_unchanged},
    },
    receipt::notary::replay::Grounds,
    recording::document::{Executor, ReplayDocument},
    stored::named_after::{free_receipt_id, receipt_id},
    task::tasks::TaskView,
};

impl Harness {
    /// Issues the receipts of whatever ends, until the Field is closed. Each open Field has one of these.
    pub async fn run_notary(self) {
        let mut going = Some(self);
        while let Some(harness) = going {
            let (moves, mut again) = (harness.field.task_moves(), false);
            if let Err(error) = harness.settle_all().await {
                // What could not be settled now is tried again, at the latest when a task moves.
                tracing::warn!(field = %harness.field.name(), %error, "a receipt could not be issued");
                again = is_for_now(&error);
            }
            going = harness.rest_until(moves, again).await;
        }
    }

    /// Settles every ending that waits.
    ///
    /// # Errors
    /// The first where one cannot be; the others are settled all the same.
    pub async fn settle_all(&self) -> Result<(), HarnError> {
        let waiting: Vec<String> = self
            .field
            .with_state(|state| state.endings.iter().map(|(_, task)| task.to_owned()).collect());
        let mut result = Ok(());
        for task in waiting {
            result = result.and(self.settle(&task).await);
        }
        result
    }

    /// Settles the endings of a Task that wait, so that whoever ended it sees its end.
    ///
    /// # Errors
    /// Where the log cannot be read or written.
    pub async fn settle(&self, task: &str) -> Result<(), HarnError> {
        let _one_at_a_time = self.issuing.lock().await;
        while retry_until_unchanged(|| self.settle_first(task)).await? {}
        Ok(())
    }

    /// Settles the first ending of a Task that waits; false where none does.
    async fn settle_first(&self, task: &str) -> Result<bool, WriteError> {
        let ending = self.field.with_state(|state| state.endings.first_of(task));
        let Some(ending) = ending else { return Ok(false) };
        let (of, read_at) = (task.to_owned(), Some(self.field.head().position));
        let command = self.reading(move |harness| harness.settling(&of, ending)).await?;
        let command = HarnCommand { read_at, ..command };
        let session = self.field.with_state(|state| state.tasks.get(task)?.session.clone());
        self.write_as_field(session.as_deref(), command).await?;
        // However it ended, nobody asks for its secrets any more.
        self.held.forget(task);
        Ok(true)
    }

    /// The write that settles an ending. Reads storage.
    fn settling(&self, task: &str, ending: u64) -> Result<HarnCommand, HarnError> {
        let story = self.story(task, ending)?;
        let profile = self.profile(&story)?;
        let mut outcome = self.outcome_of(&story)?;
        if let Some(document) = self.replay_document(task)? {
            return self.settling_replay(&story, &document, profile, outcome);
        }
        let mut documents = Vec::new();
        if profile.receipts != ReceiptPolicy::Disabled {
            let receipt_id =
                self.field.with_state(|state| free_receipt_id(state, task, receipt_id(task)));
            outcome.receipt_id = Some(receipt_id.clone());
            documents = self.receipt_drafts(&receipt_id, story, &profile, &outcome)?;
        } else {
            outcome.receipt_id = None;
        }
        let (kind, id) = (DocumentKind::Outcome, outcome.envelope.id.clone());
        documents.insert(0, self.draft(kind, &id, profile.owner, Expect::Any, &outcome)?);
        Ok(HarnCommand { documents, ..HarnCommand::default() })
    }

    /// The write that settles the ending of a replay, which has a receipt whatever the policy of its Persona.
    fn settling_replay(
        &self,
        story: &Story,
        document: &ReplayDocument,
        profile: Profile,
        mut outcome: Outcome,
    ) -> Result<HarnCommand, HarnError> {
        let Profile { owner, identifiers, trust, .. } = profile;
        let source = self.receipt_of(&document.plan.identity.source_task_id)?;
        let receipt_id = self.replay_receipt_id(document, source.as_ref());
        outcome.receipt_id = Some(receipt_id.clone());
        let log = match (document.executor, source.as_ref().and_then(bound_log)) {
            (Executor::Worker, _) => Some(Run::Worked),
            (Executor::InProcess, Some(_)) => Some(Run::Replayed),
            // So that a replay of what came from elsewhere has the receipt that it has everywhere.
            (Executor::InProcess, None) => None,
        };
        let log = log.map(|run| self.bind_log(run, &receipt_id, story, &outcome)).transpose()?;
        let is_unproven = self.is_unproven(document, source.as_ref())?;
        let grounds = Grounds { identifiers, trust, receipt_id, source, is_unproven };
        let receipt = self.replay_receipt(&story.task, document, grounds, (&outcome, &log))?;
        let (kind, id) = (DocumentKind::Outcome, outcome.envelope.id.clone());
        let said = self.draft(kind, &id, owner.clone(), Expect::Any, &outcome)?;
        let mut documents = vec![said];
        documents.extend(log.map(|log| self.log_draft(&log, owner.clone())).transpose()?);
        let (kind, id) = (DocumentKind::Receipt, &receipt.receipt_id);
        documents.push(self.draft(kind, id, owner, Expect::New, &receipt)?);
        Ok(HarnCommand { documents, ..HarnCommand::default() })
    }

    /// Whether the source of a replay came from elsewhere with nothing that binds what it says. Published recordings, whose
    /// digests are taken as declared, are what they are.
    fn is_unproven(
        &self,
        document: &ReplayDocument,
        receipt: Option<&Receipt>,
    ) -> Result<bool, HarnError> {
        // A receipt that nobody signed binds nothing: whoever altered the recording could have sealed it again.
        let signed = receipt.filter(|receipt| !receipt.signatures.is_empty());
        if signed.and_then(bound_log).is_some() || self.options.replay_trust == HashTrust::Declared
        {
            return Ok(false);
        }
        let source = &document.plan.identity.source_task_id;
        let view = self.field.with_state(|state| TaskView::any(state, source));
        view.map_or(Ok(false), |view| self.is_imported(&view))
    }

    fn receipt_drafts(
        &self,
        receipt_id: &str,
        story: Story,
        profile: &Profile,
        outcome: &Outcome,
    ) -> Result<Vec<DocumentDraft>, HarnError> {
        let log = self.bind_log(Run::Worked, receipt_id, &story, outcome)?;
        let session = &profile.identifiers.session_id;
        let before = self.field.with_state(|state| previous_receipt(state, session, None).cloned());
        let before = before.map(|entry| self.hash_of(&entry)).transpose()?.flatten();
        let receipt = self.issue(&log, story, profile, outcome, before)?;
        let owner = || profile.owner.clone();
        Ok(vec![
            self.log_draft(&log, owner())?,
            self.draft(DocumentKind::Receipt, receipt_id, owner(), Expect::New, &receipt)?,
        ])
    }
}
