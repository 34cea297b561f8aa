//! Taking the content of an Artifact away for good: its bytes are erased from the log, and a descriptor says that
//! they were there. Bytes that another Artifact has too stay until the last of them is taken away.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{AUTHORITY_WRITE, DocumentDraft, Expect, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::harn::{Artifact, HarnError, HarnErrorCode, JsonObject, ResourceKind, Sha256};

use crate::{
    Caller, Harness,
    handle::{
        caller::AUTHORITY_POLICY,
        failure::harn_error,
        retry::{WriteError, retry_until_unchanged},
    },
    not_found,
    stored::{
        artifact_marks::{REDACTED, is_redacted},
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
            if !self.has_content(&digest) {
                return Err(missing().into());
            }
            let session = entry.owner.session.clone();
            let session = session.as_deref().and_then(session_in_field);
            let command = self.redacting(caller, entry, artifact, digest).await?;
            let command = HarnCommand { read_at, ..command };
            // As the Field itself: also where the Session is over. The descriptor says who asked.
            self.write_as_field(session, command).await?;
        }
        if !self.has_content(&digest) {
            let erased = self.field.erase_content(&digest.bare()).await;
            erased.map_err(|error| harn_error(&error))?;
        }
        Ok(self.artifact(caller, id).await?)
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
        let bare = digest.bare();
        let shared = self.reading(move |harness| harness.is_shared(&id, &bare)).await?;
        if !shared {
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

    /// Whether another Artifact has the same bytes. Reads storage.
    fn is_shared(&self, id: &str, digest: &str) -> Result<bool, HarnError> {
        let others: Vec<_> = self.field.with_state(|state| {
            let all = state.documents.from(DocumentKind::Artifact, 0);
            all.filter(|(_, entry)| entry.id != id).map(|(_, entry)| entry.at).collect()
        });
        for at in others {
            let other = self.field.body_at::<Artifact>(at).map_err(|error| harn_error(&error))?;
            let has =
                |other: Artifact| !is_redacted(&other) && other.sha256.as_deref() == Some(digest);
            if other.is_some_and(has) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
