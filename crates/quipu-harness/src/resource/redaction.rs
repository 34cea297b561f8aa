//! Taking the content of an Artifact away for good: its bytes are erased from the log, and a descriptor says that
//! they were there. Bytes that another Artifact has too stay until the last of them is taken away, and the answer says
//! which those are.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{AUTHORITY_WRITE, DocumentDraft, Expect, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::harn::{Artifact, HarnError, HarnErrorCode, JsonObject, ResourceKind, Sha256};
use serde_json::{Value, json};

use crate::{
    Caller, Harness,
    document::holding::{is_noted, releasing},
    handle::{
        caller::AUTHORITY_POLICY,
        failure::harn_error,
        retry::{WriteError, retry_until_unchanged},
    },
    not_found,
    stored::{
        artifact_marks::{REDACTED, STILL_HELD, is_redacted},
        built_in::session_in_field,
    },
};

impl Harness {
    /// `DELETE /v1/artifacts/{artifact_id}/content`. Ours. Doing it again changes nothing.
    ///
    /// # Errors
    /// 404 where there is none, or its bytes are not kept here; 403 for whoever did not make it and has less
    /// than authority 8.
    pub async fn redact_artifact(&self, caller: &Caller, id: &str) -> Result<Artifact, HarnError> {
        retry_until_unchanged(|| self.redact_once(caller, id)).await
    }

    async fn redact_once(&self, caller: &Caller, id: &str) -> Result<Artifact, WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        let entry = self.entry(caller, DocumentKind::Artifact, id);
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Artifact, id))?;
        let own = entry.created_by == caller.agent;
        caller.require(if own { AUTHORITY_WRITE } else { AUTHORITY_POLICY })?;
        let artifact: Artifact = self.get(caller, id).await?;
        let missing = || {
            let message = format!("the content of {id} is not kept here");
            HarnError::new(HarnErrorCode::ResourceNotFound, message)
        };
        let digest = artifact.sha256.as_deref().and_then(|bare| Sha256::parse_bare(bare).ok());
        let digest = digest.ok_or_else(missing)?;
        if !is_redacted(&artifact) {
            self.held(&artifact).ok_or_else(missing)?;
            let session = entry.owner.session.clone();
            let session = session.as_deref().and_then(session_in_field);
            let command = self.redacting(caller, entry, artifact, digest).await?;
            let command = HarnCommand { read_at, ..command };
            // As the Field itself: also where the Session is over. The descriptor says who asked.
            self.write_as_field(session, command).await?;
        }
        let holders = self.holders_beside(id, digest).await?;
        if holders.is_empty() && !self.has_content(&digest) {
            let erased = self.field.erase_content(&digest.bare()).await;
            erased.map_err(|error| harn_error(&error))?;
        }
        let mut left = self.artifact(caller, id).await?;
        left.envelope.metadata.extend(self.still_held(caller, &holders));
        Ok(left)
    }

    async fn redacting(
        &self,
        caller: &Caller,
        entry: DocumentEntry,
        mut artifact: Artifact,
        digest: Sha256,
    ) -> Result<HarnCommand, HarnError> {
        let id = entry.id.clone();
        let by = JsonObject::with("by", caller.agent.as_str());
        artifact.envelope.metadata.insert(REDACTED.to_owned(), by.0.into());
        artifact.uri = artifact.uri.filter(|uri| !uri.starts_with("/v1/artifacts/"));
        // Nothing is appended to the stream of a Task that has ended.
        let ended = self.check_open(entry.owner.task.as_deref()).is_err();
        let task = entry.owner.task.clone().filter(|_| !ended);
        let owner = DocumentOwner { task, ..entry.owner };
        let kind = DocumentKind::Artifact;
        let mut documents = vec![self.draft(kind, &id, owner, Expect::Known, &artifact)?];
        if self.field.with_state(|state| is_noted(state, &id, &digest)) {
            documents.push(releasing(&id, &digest));
        }
        if self.holders_beside(&id, digest).await?.is_empty() {
            documents.push(DocumentDraft {
                kind: DocumentKind::Content,
                id: digest.bare(),
                owner: DocumentOwner::default(),
                expect: Expect::Removal,
                body: None,
                quotes: Vec::new(),
            });
        }
        Ok(HarnCommand { documents, ..HarnCommand::default() })
    }

    /// The other Artifacts that have the same bytes.
    async fn holders_beside(
        &self,
        id: &str,
        digest: Sha256,
    ) -> Result<Vec<DocumentEntry>, HarnError> {
        let id = id.to_owned();
        self.reading(move |harness| harness.other_holders(&id, &digest)).await
    }

    /// Who has the bytes that were taken away, by what the caller may know of; nothing where they are erased.
    fn still_held(&self, caller: &Caller, holders: &[DocumentEntry]) -> Option<(String, Value)> {
        let (known, others): (Vec<_>, Vec<_>) =
            holders.iter().partition(|entry| self.reaches(caller, entry.owner.session.as_deref()));
        let ids: Vec<&str> = known.iter().map(|entry| entry.id.as_str()).collect();
        let says = json!({"artifacts": ids, "others": !others.is_empty()});
        (!holders.is_empty()).then(|| (STILL_HELD.to_owned(), says))
    }
}
