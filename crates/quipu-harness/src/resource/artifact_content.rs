//! The content of Artifacts: read by whom their visibility allows, and put once, with the digest that was registered.

use quipu_core::{
    DocumentKind,
    rules::harn::{Expect, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::harn::{Artifact, HarnError, HarnErrorCode, ResourceKind, Sha256, Visibility};

use crate::{
    Caller, Harness, WriteRequest,
    document::holding::{digest_of, holding, is_noted},
    handle::{
        caller::AUTHORITY_POLICY,
        retry::{WriteError, retry_until_unchanged},
        write::Target,
    },
    not_found,
    stored::{
        artifact_marks::{LogMarks, is_redacted},
        built_in::session_in_field,
    },
    visibility::parts::may_see,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactContent {
    pub mime_type: String,
    pub sha256: Sha256,
    pub bytes: Vec<u8>,
}

impl Harness {
    /// `GET /v1/artifacts/{artifact_id}/content`.
    ///
    /// # Errors
    /// 403 where it is not for the caller, 404 where its bytes are not kept here.
    pub async fn artifact_content(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<ArtifactContent, HarnError> {
        let entry = self.entry(caller, DocumentKind::Artifact, id);
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Artifact, id))?;
        let artifact: Artifact = self.get(caller, id).await?;
        if !may_see(caller, artifact.visibility) && !self.is_of_own_run(caller, &entry, &artifact) {
            let message = format!("the content of {id} is {}", artifact.visibility);
            return Err(HarnError::new(HarnErrorCode::PermissionDenied, message));
        }
        if !self.sees_content(caller, &artifact) {
            let message =
                format!("the content of {id} repeats a Memory that is not for the caller");
            return Err(HarnError::new(HarnErrorCode::PermissionDenied, message));
        }
        self.reading(move |harness| harness.read_content(&entry, artifact)).await
    }

    /// Whether an `internal` Artifact is of a run that the caller has a part in: who goes on with it needs what it
    /// recorded, and so do its replays.
    fn is_of_own_run(&self, caller: &Caller, entry: &DocumentEntry, artifact: &Artifact) -> bool {
        let Some(task) = entry.owner.task.as_deref() else { return false };
        let agent = caller.agent.as_str();
        artifact.visibility == Visibility::Internal
            && self.field.with_state(|state| {
                state.tasks.get(task).is_some_and(|entry| {
                    entry.created_by == agent || entry.assigned_to.as_deref() == Some(agent)
                })
            })
    }

    /// `PUT /v1/artifacts/{artifact_id}/content`. Ours.
    ///
    /// # Errors
    /// 403 for whoever did not register it without a digest and has less than authority 8; 409 where the bytes are not
    /// those that were registered or were taken away, 413 where they are too many.
    pub async fn put_artifact_content(
        &self,
        write: &WriteRequest,
        id: &str,
        bytes: Vec<u8>,
    ) -> Result<Artifact, HarnError> {
        retry_until_unchanged(|| self.put_content_once(write, id, bytes.clone())).await
    }

    async fn put_content_once(
        &self,
        write: &WriteRequest,
        id: &str,
        bytes: Vec<u8>,
    ) -> Result<Artifact, WriteError> {
        // So that nobody takes the same bytes away meanwhile.
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        let entry = self.entry(&write.caller, DocumentKind::Artifact, id);
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Artifact, id))?;
        let mut artifact: Artifact = self.get(&write.caller, id).await?;
        if is_redacted(&artifact) {
            let message = format!("the content of {id} was taken away");
            return Err(HarnError::new(HarnErrorCode::Conflict, message).into());
        }
        let (sha256, content) = self.reading(move |harness| harness.keep_content(&bytes)).await?;
        // Bytes that are kept already are not written again.
        let mut documents = if self.has_content(&sha256) { Vec::new() } else { vec![content] };
        if !self.field.with_state(|state| is_noted(state, id, &sha256)) {
            documents.push(holding(id, &sha256));
        }
        let session = entry.owner.session.clone();
        if let Some(registered) = artifact.sha256.as_deref() {
            if registered != sha256.bare() {
                let message =
                    format!("the content has sha256 {}, not the registered", sha256.bare());
                return Err(HarnError::new(HarnErrorCode::Conflict, message).at("sha256").into());
            }
        } else {
            // What an Artifact without a digest is to hold says whoever registered it.
            if entry.created_by != write.caller.agent {
                write.caller.require(AUTHORITY_POLICY)?;
            }
            self.check_open(entry.owner.task.as_deref())?;
            artifact.sha256 = Some(sha256.bare());
            let kind = DocumentKind::Artifact;
            documents.push(self.draft(kind, id, entry.owner, Expect::Known, &artifact)?);
        }
        if documents.is_empty() {
            return Ok(self.artifact(&write.caller, id).await?);
        }
        let path = format!("/v1/artifacts/{id}/content");
        let target = Target { workspace: "", method: "PUT", path: &path };
        let command = HarnCommand { documents, read_at, ..HarnCommand::default() };
        let session = session.as_deref().and_then(session_in_field);
        self.write(write, target, session, command).await?;
        Ok(self.artifact(&write.caller, id).await?)
    }

    /// The content of an Artifact; the event log of a Task is made from the log. Reads storage.
    pub(crate) fn read_content(
        &self,
        entry: &DocumentEntry,
        artifact: Artifact,
    ) -> Result<ArtifactContent, HarnError> {
        let missing = || {
            let why = if is_redacted(&artifact) { "was taken away" } else { "is not kept here" };
            let message = format!("the content of {} {why}", entry.id);
            HarnError::new(HarnErrorCode::ResourceNotFound, message)
        };
        let named = digest_of(&artifact).ok_or_else(missing)?;
        let marks = LogMarks::read(entry, &artifact.envelope.metadata);
        let found = match marks.zip(entry.owner.task.as_deref()) {
            // What was erased since is missing, and then the log is not the one that was proven.
            Some((marks, task)) => {
                let lines = self.event_log(task, &marks)?;
                Some((Sha256::of(&lines), lines)).filter(|(digest, _)| *digest == named)
            }
            None => self.bytes_of(&artifact)?,
        };
        let (sha256, bytes) = found.ok_or_else(missing)?;
        Ok(ArtifactContent { mime_type: artifact.mime_type, sha256, bytes })
    }
}
