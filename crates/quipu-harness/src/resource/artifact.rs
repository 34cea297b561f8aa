//! Artifacts: registered by anybody who may write, and read without what is not for the reader.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_wire::harn::{
    Artifact, ArtifactObject, HarnError, HarnErrorCode, JsonObject, List, RegisterArtifactRequest,
    ResourceEnvelope, ResourceKind,
};

use crate::{
    Caller, Harness, WriteRequest,
    document::holding::{digest_of, holding},
    handle::{
        page::Page,
        write::{Target, put_by},
    },
    not_found,
    stored::{
        artifact_marks::{LogMarks, REDACTED, STILL_HELD},
        built_in::session_in_field,
    },
    task::tasks::{has_ended, is_over},
    visibility::parts,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactFilter {
    pub workspace: Option<String>,
    pub session: Option<String>,
    pub task: Option<String>,
}

impl Harness {
    /// `POST /v1/artifacts`.
    ///
    /// # Errors
    /// 404 for what the request names and the caller may not know of, 409 where the Task has ended.
    pub async fn register_artifact(
        &self,
        write: &WriteRequest,
        request: RegisterArtifactRequest,
    ) -> Result<Artifact, HarnError> {
        let owner = self.owner_of_artifact(&write.caller, &request)?;
        // So that nobody takes away meanwhile what it names.
        let _turn = self.changing.lock().await;
        let id = self.draw(ResourceKind::Artifact);
        let artifact = artifact(&id, request, &owner);
        let kind = DocumentKind::Artifact;
        let (workspace, session) = (owner.workspace.clone(), owner.session.clone());
        let session = session.as_deref().and_then(session_in_field);
        let mut documents = vec![self.draft(kind, &id, owner, Expect::New, &artifact)?];
        documents.extend(self.read_before(&write.caller, &artifact).await?);
        let command = HarnCommand { documents, ..HarnCommand::default() };
        let workspace = workspace.unwrap_or_default();
        let target = Target { workspace: &workspace, method: "POST", path: "/v1/artifacts" };
        let outcome = self.write(write, target, session, command).await?;
        let id = put_by(&outcome, kind).unwrap_or(&id).to_owned();
        self.artifact(&write.caller, &id).await
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

    /// The draft by which an Artifact has the bytes that it names: for whoever can read them already, and for nobody
    /// else.
    async fn read_before(
        &self,
        caller: &Caller,
        artifact: &Artifact,
    ) -> Result<Option<DocumentDraft>, HarnError> {
        let Some(digest) = digest_of(artifact) else { return Ok(None) };
        let caller = caller.clone();
        let can = self.reading(move |harness| harness.can_read(&caller, &digest)).await?;
        Ok(can.then(|| holding(&artifact.envelope.id, &digest)))
    }

    /// An Artifact, for what its reader writes down of it: whole for who made it, and otherwise as it is shown.
    pub(crate) async fn readable_artifact(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Artifact, HarnError> {
        let made = self.entry(caller, DocumentKind::Artifact, id);
        let own = made.is_some_and(|entry| entry.created_by == caller.agent);
        let artifact = self.get(caller, id).await?;
        Ok(if own { artifact } else { parts::artifact(caller, artifact) })
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
        LogMarks::remove(&mut artifact.envelope.metadata);
        if artifact.receipt_id.is_none()
            && let Some(task) = &artifact.task_id
        {
            artifact.receipt_id = self.field.with_state(|state| {
                let issued = state.documents.of_task(DocumentKind::Receipt, task).last();
                issued.map(|(_, entry)| entry.id.clone())
            });
        }
        parts::artifact(caller, artifact)
    }
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

/// The members that a client may set itself in the metadata of an Artifact.
pub(crate) fn own_members(mut metadata: JsonObject) -> JsonObject {
    LogMarks::remove(&mut metadata);
    for mark in [REDACTED, STILL_HELD] {
        metadata.remove(mark);
    }
    metadata
}

fn artifact(id: &str, request: RegisterArtifactRequest, owner: &DocumentOwner) -> Artifact {
    let mut envelope = ResourceEnvelope::new(id, "");
    envelope.metadata = own_members(request.metadata);
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
