//! `POST /v1/tasks/import`: a finished Task of another server, with the ids, numbers and times that it had
//! there, in one commit. From then on it is replayed like one of ours.

use quipu_core::{
    DocumentKind, DocumentOwner,
    event::{
        coordination::{ReasonBody, SessionBody, TaskBody},
        documents::{Imported, Note, NotedDependency},
    },
    rules::harn::{DocumentDraft, Expect, HarnAct, HarnCommand, ImportedTask, NoteDraft},
};
use quipu_wire::{
    akashik::{SessionPolicy, TaskStatus},
    harn::{
        ExportedArtifact, ExportedEvent, HarnError, HarnTask, JsonObject, ResourceEnvelope, Sha256,
        TaskExport, TaskState, Workspace, WorkspaceObject,
    },
    json::{base64, reader::check_id},
};

use super::{export::check_authority, import_check::refused};
use crate::{
    Harness, NoteBody, WORKSPACE_DEFAULT, WriteRequest,
    document::holding::own_uri,
    handle::{
        failure::harn_error,
        write::{Target, put_by},
    },
    stored::{built_in::session_in_field, named_after::outcome_id, session_facts::SessionFacts},
};

const PATH: &str = "/v1/tasks/import";
/// In the metadata of the answer: how much of what came is proven.
const IMPORT: &str = "import";

impl Harness {
    /// `POST /v1/tasks/import`.
    ///
    /// # Errors
    /// 403 without the authority, 400 where the document contradicts itself, 409 where an id is taken.
    pub async fn import_task(
        &self,
        write: &WriteRequest,
        export: TaskExport,
    ) -> Result<HarnTask, HarnError> {
        check_authority(&write.caller)?;
        let proven = self.check_import(&export)?;
        let id = export.task.envelope.id.clone();
        let session = export.task.session_id.clone();
        let session = session_in_field(&session).map(str::to_owned);
        // So that nobody takes the same bytes away meanwhile.
        let turn = self.changing.lock().await;
        let command = self.importing(session.as_deref(), export)?;
        let outcome = self.write(write, Target::post(PATH), session.as_deref(), command).await?;
        drop(turn);
        let id = put_by(&outcome, DocumentKind::Task).unwrap_or(&id).to_owned();
        if let Err(error) = self.settle(&id).await {
            // It was taken all the same, and whoever settles what waits tries again.
            tracing::warn!(task = id, %error, "an imported task could not be settled yet");
        }
        let mut task = self.task(&write.caller, &id).await?;
        let proven = JsonObject::with("proven", proven.as_str());
        task.envelope.metadata.insert(IMPORT.to_owned(), proven.0.into());
        Ok(task)
    }

    fn importing(
        &self,
        session: Option<&str>,
        export: TaskExport,
    ) -> Result<HarnCommand, HarnError> {
        let TaskExport { mut task, events, artifacts, outcome, receipt, .. } = export;
        let (id, workspace) = (task.envelope.id.clone(), task.workspace_id.clone());
        let owner = DocumentOwner {
            workspace: Some(workspace.clone()),
            session: session.map(str::to_owned),
            task: Some(id.clone()),
            ..DocumentOwner::default()
        };
        let (new_session, new_workspace) = self.field.with_state(|state| {
            let opened = session.is_some_and(|session| state.sessions.get(session).is_none());
            let known = workspace == WORKSPACE_DEFAULT
                || state.documents.get(DocumentKind::Workspace, &workspace).is_some();
            (opened, !known)
        });
        let mut documents = Vec::new();
        if new_workspace {
            documents.push(self.workspace_draft(&workspace)?);
        }
        if let Some(session) = session.filter(|_| new_session) {
            let owner = crate::session::sessions::owner(&workspace, session);
            let facts = SessionFacts::default();
            documents.push(self.draft(
                DocumentKind::Session,
                session,
                owner,
                Expect::New,
                &facts,
            )?);
        }
        let act = self.import_act(&task, new_session)?;
        let own = || owner.clone();
        // Whatever its Outcome was called there, here it is this Task's and no other's.
        task.outcome_id = outcome.as_ref().map(|_| outcome_id(&id));
        documents.push(self.draft(DocumentKind::Task, &id, own(), Expect::New, &task)?);
        for artifact in artifacts {
            documents.extend(self.artifact_drafts(own(), artifact)?);
        }
        if let Some(mut outcome) = outcome {
            let of = outcome_id(&id);
            outcome.envelope.id.clone_from(&of);
            documents.push(self.draft(DocumentKind::Outcome, &of, own(), Expect::New, &outcome)?);
        }
        if let Some(receipt) = receipt {
            let of = receipt.receipt_id.clone();
            documents.push(self.draft(DocumentKind::Receipt, &of, own(), Expect::New, &receipt)?);
        }
        let notes = events.into_iter().map(|event| self.imported_note(&id, event));
        let notes = notes.collect::<Result<_, _>>()?;
        Ok(HarnCommand { act: Some(act), documents, notes, ..HarnCommand::default() })
    }

    fn import_act(&self, task: &HarnTask, new_session: bool) -> Result<HarnAct, HarnError> {
        let failed = |error| harn_error(&error);
        let title = format!("imported {}", task.envelope.id);
        let body = TaskBody { title: title.clone(), purpose: title, question: None };
        let reason = task.failure.as_ref().map(|failure| failure.message.clone());
        let reason = reason.map(|reason| self.field.seal(&ReasonBody { reason })).transpose();
        let goal = SessionBody { goal: "imported".to_owned() };
        let session = new_session.then(|| self.field.seal(&goal)).transpose().map_err(failed)?;
        Ok(HarnAct::ImportTask(Box::new(ImportedTask {
            task: task.envelope.id.clone(),
            session: session.map(|body| (SessionPolicy::default(), body)),
            body: self.field.seal(&body).map_err(failed)?,
            ended: match task.status {
                TaskState::Completed => TaskStatus::Completed,
                TaskState::Canceled => TaskStatus::Cancelled,
                TaskState::Failed
                | TaskState::Submitted
                | TaskState::Working
                | TaskState::InputRequired
                | TaskState::AuthRequired => TaskStatus::Failed,
            },
            reason: reason.map_err(failed)?,
        })))
    }

    fn workspace_draft(&self, id: &str) -> Result<DocumentDraft, HarnError> {
        let workspace = Workspace {
            object: WorkspaceObject::Workspace,
            envelope: ResourceEnvelope::new(id, ""),
            name: id.to_owned(),
            root: format!("imported://{id}"),
            default_branch_id: None,
            host: None,
            repository: None,
            tenant_id: None,
            capabilities: Vec::new(),
            connectors: Vec::new(),
            quota_id: None,
        };
        let (kind, owner) = (DocumentKind::Workspace, DocumentOwner::default());
        self.draft(kind, id, owner, Expect::New, &workspace)
    }

    fn artifact_drafts(
        &self,
        owner: DocumentOwner,
        exported: ExportedArtifact,
    ) -> Result<Vec<DocumentDraft>, HarnError> {
        let ExportedArtifact { mut artifact, content_base64 } = exported;
        let id = artifact.envelope.id.clone();
        let param = format!("artifacts.{id}");
        check_id(&id).map_err(|problem| refused(&param, problem))?;
        artifact.task_id.clone_from(&owner.task);
        artifact.session_id.clone_from(&owner.session);
        artifact.workspace_id.clone_from(&owner.workspace);
        let mut drafts = Vec::new();
        if let Some(text) = content_base64 {
            let bytes = base64::decode(&text);
            let bytes = bytes.ok_or_else(|| refused(&param, "the content is not base64"))?;
            let (digest, kept) = self.keep_for(&id, &bytes)?;
            let declared = artifact.sha256.as_deref().map(Sha256::parse_bare);
            if declared.is_some_and(|declared| declared != Ok(digest)) {
                return Err(refused(&param, "the content is not that of its sha256"));
            }
            drafts.extend(kept);
        } else {
            // It says where the bytes are that did not come along.
            artifact.uri = artifact.uri.filter(|uri| *uri != own_uri(&id));
        }
        drafts.push(self.draft(DocumentKind::Artifact, &id, owner, Expect::New, &artifact)?);
        Ok(drafts)
    }

    fn imported_note(&self, task: &str, exported: ExportedEvent) -> Result<NoteDraft, HarnError> {
        let (key, mut says) = match exported.dependency {
            None => (None, NoteBody { sha256: exported.sha256, ..NoteBody::default() }),
            Some(it) => {
                let says = NoteBody {
                    value: it.value,
                    artifact_id: it.artifact_id,
                    sha256: it.sha256,
                    request_sha256: it.request_sha256,
                    ..NoteBody::default()
                };
                (Some(NotedDependency { key: it.key, kind: it.kind }), says)
            }
        };
        says.payload = exported.payload;
        let note = Note {
            event: exported.event.as_str().to_owned(),
            visibility: exported.visibility,
            dependency: key,
            checkpoint: exported.checkpoint_id,
            imported: Some(Imported {
                event_id: exported.id,
                sequence: exported.sequence,
                at: exported.created_at,
            }),
        };
        let body = self.field.seal(&says).map_err(|error| harn_error(&error))?;
        Ok(NoteDraft { task: task.to_owned(), note, body: Some(body) })
    }
}
