//! Settling: Outcome, Receipt and event log of an ending in one commit, one ending after the other.

use quipu_core::{
    DocumentKind, State,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_wire::harn::{
    Artifact, ArtifactKind, ArtifactObject, HarnError, Outcome, ReceiptPolicy, ResourceEnvelope,
    ResourceKind, Sha256, Visibility,
};

use super::{
    issue::event_log_fact,
    previous::previous_receipt,
    profile::Profile,
    story::{Story, rest_of},
};
use crate::{
    Harness,
    handle::{
        failure::is_for_now,
        retry::{WriteError, retry_until_unchanged},
    },
    receipt::notary::replay::Grounds,
    recording::document::ReplayDocument,
    stored::artifact_marks::EVENT_LOG_UNTIL,
};

const EVENT_LOG: &str = "application/jsonl";

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
            return self.settling_replay(task, &document, profile, outcome);
        }
        let mut documents = Vec::new();
        if profile.receipts != ReceiptPolicy::Disabled {
            let receipt_id = self.field.with_state(|state| free_receipt_id(state, task));
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
        task: &str,
        document: &ReplayDocument,
        profile: Profile,
        mut outcome: Outcome,
    ) -> Result<HarnCommand, HarnError> {
        let Profile { owner, identifiers, trust, .. } = profile;
        let grounds = Grounds { identifiers, trust };
        let receipt = self.replay_receipt(task, document, grounds, &outcome)?;
        outcome.receipt_id = Some(receipt.receipt_id.clone());
        let (kind, id) = (DocumentKind::Outcome, outcome.envelope.id.clone());
        let said = self.draft(kind, &id, owner.clone(), Expect::Any, &outcome)?;
        let (kind, id) = (DocumentKind::Receipt, &receipt.receipt_id);
        let issued = self.draft(kind, id, owner, Expect::New, &receipt)?;
        Ok(HarnCommand { documents: vec![said, issued], ..HarnCommand::default() })
    }

    fn receipt_drafts(
        &self,
        receipt_id: &str,
        story: Story,
        profile: &Profile,
        outcome: &Outcome,
    ) -> Result<Vec<DocumentDraft>, HarnError> {
        let log = event_log_artifact(&story, receipt_id, profile);
        let session = &profile.identifiers.session_id;
        let before = self.field.with_state(|state| previous_receipt(state, session, None).cloned());
        let before = before.map(|entry| self.hash_of(&entry)).transpose()?.flatten();
        let receipt = self.issue(receipt_id, story, profile, outcome, before)?;
        let owner = || profile.owner.clone();
        let kept = &log.envelope.id;
        Ok(vec![
            self.draft(DocumentKind::Artifact, kept, owner(), Expect::New, &log)?,
            self.draft(DocumentKind::Receipt, receipt_id, owner(), Expect::New, &receipt)?,
        ])
    }
}

/// The id of the next receipt of a Task: its own, and then with a number.
fn free_receipt_id(state: &State, task: &str) -> String {
    let first = ResourceKind::Receipt.id(rest_of(task));
    let taken = |id: &String| state.documents.taken(DocumentKind::Receipt, id).is_some();
    let later = (2u32..).map(|number| format!("{first}_{number}"));
    std::iter::once(first.clone()).chain(later).find(|id| !taken(id)).unwrap_or(first)
}

/// The Task's events as an Artifact. Its content is the log itself, and is read from there when somebody asks for it.
fn event_log_artifact(story: &Story, receipt_id: &str, profile: &Profile) -> Artifact {
    let fact = event_log_fact(story, receipt_id);
    let mut envelope = ResourceEnvelope::new(ResourceKind::Artifact.id(&fact.id), "");
    envelope.metadata.insert(EVENT_LOG_UNTIL.to_owned(), story.ending.position.into());
    Artifact {
        object: ArtifactObject::Artifact,
        envelope,
        kind: ArtifactKind::Log,
        mime_type: EVENT_LOG.to_owned(),
        uri: Some(fact.uri),
        visibility: Visibility::Public,
        sha256: Some(Sha256::bare(&fact.sha256)),
        workspace_id: profile.owner.workspace.clone(),
        session_id: profile.owner.session.clone(),
        task_id: profile.owner.task.clone(),
        receipt_id: Some(receipt_id.to_owned()),
    }
}
