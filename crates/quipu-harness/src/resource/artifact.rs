//! Artifacts: registered by anybody who may write, read by whom their visibility allows, with content that
//! may come later and must have the digest that was registered.

use quipu_core::{
    event::documents::{DocumentKind, DocumentOwner},
    rules::harn::{Expect, FIELD_AGENT, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::harn::{
    Artifact, ArtifactObject, HarnError, HarnErrorCode, JsonObject, List, RegisterArtifactRequest,
    ResourceEnvelope, ResourceKind, Sha256, Visibility,
};

use crate::{
    Asked, Caller, Harness,
    handle::{
        page::Page,
        retry::{WriteError, retry_until_unchanged},
        write::{Target, put_by},
    },
    not_found,
    stored::{
        artifact_marks::{EVENT_LOG_UNTIL, REDACTED, is_redacted},
        built_in::session_in_field,
    },
    task::tasks::{has_ended, is_over},
    visibility::parts::may_see,
};

/// Which Artifacts of a list are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactFilter {
    /// Only those of this Workspace.
    pub workspace: Option<String>,
    /// Only those of this Session.
    pub session: Option<String>,
    /// Only those of this Task.
    pub task: Option<String>,
}

/// The bytes of an Artifact and what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactContent {
    /// Of what type.
    pub mime_type: String,
    /// Their digest.
    pub sha256: Sha256,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Harness {
    /// `POST /v1/artifacts`.
    ///
    /// # Errors
    /// 404 for what the request names and the caller may not know of, 409 where the Task has ended.
    pub async fn register_artifact(
        &self,
        asked: &Asked,
        request: RegisterArtifactRequest,
    ) -> Result<Artifact, HarnError> {
        let owner = self.owner_of_artifact(&asked.caller, &request)?;
        let id = self.draw(ResourceKind::Artifact);
        let artifact = artifact(&id, request, &owner);
        let kind = DocumentKind::Artifact;
        let (workspace, session) = (owner.workspace.clone(), owner.session.clone());
        let session = session.as_deref().and_then(session_in_field);
        let command = HarnCommand {
            documents: vec![self.draft(kind, &id, owner, Expect::New, &artifact)?],
            ..HarnCommand::default()
        };
        let workspace = workspace.unwrap_or_default();
        let target = Target { workspace: &workspace, method: "POST", path: "/v1/artifacts" };
        let outcome = self.write(asked, target, session, command).await?;
        let id = put_by(&outcome, kind).unwrap_or(&id).to_owned();
        self.artifact(&asked.caller, &id).await
    }

    /// `GET /v1/artifacts/{artifact_id}`.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of.
    pub async fn artifact(&self, caller: &Caller, id: &str) -> Result<Artifact, HarnError> {
        let artifact = self.get(caller, id).await?;
        Ok(self.show_artifact(caller, artifact))
    }

    /// `GET /v1/artifacts`.
    ///
    /// # Errors
    /// Where the log cannot be read.
    pub async fn artifacts(
        &self,
        caller: &Caller,
        page: Page,
        filter: ArtifactFilter,
    ) -> Result<List<Artifact>, HarnError> {
        let fits = |asked: &Option<String>, own: &Option<String>| asked.is_none() || asked == own;
        let mut list: List<Artifact> = self
            .list(caller, page, |entry| {
                fits(&filter.workspace, &entry.owner.workspace)
                    && fits(&filter.session, &entry.owner.session)
                    && fits(&filter.task, &entry.owner.task)
            })
            .await?;
        list.data = list.data.into_iter().map(|each| self.show_artifact(caller, each)).collect();
        Ok(list)
    }

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
        if !may_see(caller, artifact.visibility) {
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

    /// `PUT /v1/artifacts/{artifact_id}/content`. Ours.
    ///
    /// # Errors
    /// 409 where the bytes are not those that were registered or were taken away, 413 where they are too many.
    pub async fn put_artifact_content(
        &self,
        asked: &Asked,
        id: &str,
        bytes: Vec<u8>,
    ) -> Result<Artifact, HarnError> {
        retry_until_unchanged(|| self.put_content_once(asked, id, bytes.clone())).await
    }

    async fn put_content_once(
        &self,
        asked: &Asked,
        id: &str,
        bytes: Vec<u8>,
    ) -> Result<Artifact, WriteError> {
        // So that nobody takes the same bytes away meanwhile.
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        let entry = self.entry(&asked.caller, DocumentKind::Artifact, id);
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Artifact, id))?;
        let mut artifact: Artifact = self.get(&asked.caller, id).await?;
        if is_redacted(&artifact) {
            let message = format!("the content of {id} was taken away");
            return Err(HarnError::new(HarnErrorCode::Conflict, message).into());
        }
        let (sha256, content) = self.reading(move |harness| harness.keep_content(&bytes)).await?;
        // Bytes that are kept already are not written again.
        let mut documents = if self.has_content(&sha256) { Vec::new() } else { vec![content] };
        let session = entry.owner.session.clone();
        if let Some(registered) = artifact.sha256.as_deref() {
            if registered != sha256.bare() {
                let message =
                    format!("the content has sha256 {}, not the registered", sha256.bare());
                return Err(HarnError::new(HarnErrorCode::Conflict, message).at("sha256").into());
            }
        } else {
            self.check_open(entry.owner.task.as_deref())?;
            artifact.sha256 = Some(sha256.bare());
            let kind = DocumentKind::Artifact;
            documents.push(self.draft(kind, id, entry.owner, Expect::Known, &artifact)?);
        }
        if documents.is_empty() {
            return Ok(self.artifact(&asked.caller, id).await?);
        }
        let path = format!("/v1/artifacts/{id}/content");
        let target = Target { workspace: "", method: "PUT", path: &path };
        let command = HarnCommand { documents, read_at, ..HarnCommand::default() };
        let session = session.as_deref().and_then(session_in_field);
        self.write(asked, target, session, command).await?;
        Ok(self.artifact(&asked.caller, id).await?)
    }

    /// The content of an Artifact; the event log of a Task is told from the log. Reads storage.
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
        let sha256 = artifact.sha256.as_deref().and_then(|bare| Sha256::parse_bare(bare).ok());
        let sha256 = sha256.filter(|_| !is_redacted(&artifact)).ok_or_else(missing)?;
        let bytes = match event_log_until(entry, &artifact.envelope.metadata) {
            // What was erased since is told no more, and then the log is not the one that was proven.
            Some((task, until)) => {
                Some(self.event_log(task, until)?).filter(|lines| Sha256::of(lines) == sha256)
            }
            None => self.content(&sha256)?,
        };
        let bytes = bytes.ok_or_else(missing)?;
        Ok(ArtifactContent { mime_type: artifact.mime_type, sha256, bytes })
    }

    fn owner_of_artifact(
        &self,
        caller: &Caller,
        request: &RegisterArtifactRequest,
    ) -> Result<DocumentOwner, HarnError> {
        let mut session = request.session_id.clone();
        let mut workspace = request.workspace_id.clone();
        if let Some(id) = &request.task_id {
            let task = self.view_task(caller, id).map_err(|error| error.at("task_id"))?;
            self.check_open(Some(id)).map_err(|error| error.at("task_id"))?;
            agree(&mut session, task.session_id(), "session_id")?;
            agree(&mut workspace, &task.workspace, "workspace_id")?;
        }
        if let Some(id) = &session {
            self.check_session(caller, id).map_err(|error| error.at("session_id"))?;
            let of_session = self.field.with_state(|state| {
                crate::visibility::access::workspace_of(state, session_in_field(id))
            });
            agree(&mut workspace, &of_session, "workspace_id")?;
        }
        if let Some(id) = workspace.as_deref().filter(|id| *id != crate::WORKSPACE_DEFAULT) {
            let known = self.entry(caller, DocumentKind::Workspace, id).is_some();
            if !known {
                return Err(not_found(ResourceKind::Workspace, id).at("workspace_id"));
            }
        }
        Ok(DocumentOwner {
            workspace,
            session,
            task: request.task_id.clone(),
            ..DocumentOwner::default()
        })
    }

    /// Nothing is added to what a Task made once it has ended.
    pub(crate) fn check_open(&self, task: Option<&str>) -> Result<(), HarnError> {
        let Some(id) = task else { return Ok(()) };
        let status = self.field.with_state(|state| state.tasks.get(id).map(|entry| entry.status));
        if status.is_some_and(is_over) { Err(has_ended(id)) } else { Ok(()) }
    }

    /// The Artifact as the caller sees it: where it is proven, and without what is not for the caller.
    fn show_artifact(&self, caller: &Caller, mut artifact: Artifact) -> Artifact {
        artifact.envelope.metadata.remove(EVENT_LOG_UNTIL);
        if artifact.receipt_id.is_none()
            && let Some(task) = &artifact.task_id
        {
            artifact.receipt_id = self.field.with_state(|state| {
                let issued = state.documents.of_task(DocumentKind::Receipt, task).last();
                issued.map(|(_, entry)| entry.id.clone())
            });
        }
        if !may_see(caller, artifact.visibility) {
            let word = artifact.visibility.as_str();
            artifact.uri = None;
            artifact.envelope.metadata = JsonObject::with("redacted", word);
            if artifact.visibility == Visibility::Internal {
                artifact.sha256 = None;
            }
        }
        artifact
    }
}

/// The Task and the commit of an event log. Only the Field itself makes these.
fn event_log_until<'e>(entry: &'e DocumentEntry, metadata: &JsonObject) -> Option<(&'e str, u64)> {
    let until = metadata.get(EVENT_LOG_UNTIL)?.as_u64()?;
    let task = entry.owner.task.as_deref()?;
    (entry.created_by == FIELD_AGENT).then_some((task, until))
}

fn agree(asked: &mut Option<String>, found: &str, param: &str) -> Result<(), HarnError> {
    match asked {
        Some(asked) if asked != found => {
            let message = format!("{param}: must be {found}, as the rest of the request has it");
            Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at(param))
        }
        Some(_) => Ok(()),
        None => {
            *asked = Some(found.to_owned());
            Ok(())
        }
    }
}

fn artifact(id: &str, request: RegisterArtifactRequest, owner: &DocumentOwner) -> Artifact {
    let mut envelope = ResourceEnvelope::new(id, "");
    envelope.metadata = request.metadata;
    envelope.metadata.remove(EVENT_LOG_UNTIL);
    envelope.metadata.remove(REDACTED);
    Artifact {
        object: ArtifactObject::Artifact,
        envelope,
        kind: request.kind,
        mime_type: request.mime_type,
        uri: request.uri,
        visibility: request.visibility,
        sha256: request.sha256.map(|digest| digest.bare()),
        workspace_id: owner.workspace.clone(),
        session_id: owner.session.clone(),
        task_id: owner.task.clone(),
        receipt_id: None,
    }
}
