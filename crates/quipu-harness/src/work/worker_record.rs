//! What a worker records so that its run can be replayed: answers under their keys, and checkpoints.

use quipu_core::{
    DocumentKind, State,
    event::documents::NotedDependency,
    rules::harn::{AUTHORITY_OTHERS, Expect, HarnAct, HarnCommand},
};
use quipu_wire::harn::{
    Artifact, ArtifactKind, DependencyAnswer, DependencyKind, HarnError, HarnErrorCode, JsonObject,
    RecordCheckpointRequest, RecordDependencyRequest, RecordedDependencyObject,
    RecordedDependencyResource, ResourceKind, Sha256, Visibility,
};

use crate::{
    Caller, EventPosition, Harness, NoteBody, WriteRequest,
    handle::failure::harn_error,
    not_found,
    permission::ToolUse,
    resource::quota_usage::unit_of,
    stored::note::{CHECKPOINT_CREATED, DEPENDENCY_RECORDED},
    task::{
        artifact::{canonical, owned_artifact},
        installed_module::is_module_task,
        tasks::TaskView,
    },
};

#[derive(Debug, Clone)]
pub struct Recorded {
    pub dependency: RecordedDependencyResource,
    /// Whether it was recorded before.
    pub again: bool,
}

impl Harness {
    /// `POST /v1/tasks/{task_id}/dependencies`. The same answer under the same key is the same answer.
    ///
    /// # Errors
    /// 404 where there is no such Task or Artifact, 409 where the caller does not work on it, it is a replay or
    /// the key has another answer, 400 where a secret is called something else, 422 where its Persona may not
    /// use that tool.
    pub async fn record_dependency(
        &self,
        write: &WriteRequest,
        id: &str,
        mut request: RecordDependencyRequest,
    ) -> Result<Recorded, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        self.check_recordable(id, &request)?;
        let act = self.act_of_answer(&view, &mut request).await?;
        let before = self.recorded_at(id, &request.key);
        let tool = ToolUse::of_answer(request.kind, &request.key);
        if let Some(tool) = tool.filter(|_| before.is_none()) {
            self.check_tool_use(write, &view, &tool).await?;
        }
        let says = self.answer(write, id, &request).await?;
        // By its key, as it is counted afterwards.
        let _turn = match unit_of(&request.key).filter(|_| before.is_none()) {
            Some(unit) => self.check_quotas(view.persona(), &view.workspace, unit).await?,
            None => None,
        };
        let mut note = self.note(id, DEPENDENCY_RECORDED, &says)?;
        note.note.visibility = request.visibility;
        let (key, kind) = (request.key.clone(), request.kind);
        note.note.dependency = Some(NotedDependency { key, kind });
        let command = HarnCommand { act: Some(act), notes: vec![note], ..HarnCommand::default() };
        let written = self.write_on(write, &view, "dependencies", command).await;
        let place = match (written, self.recorded_at(id, &request.key)) {
            (Ok(_), Some(place)) => place,
            (Err(error), Some(place))
                if error.is_recorded(id, &request.key)
                    || ((error.stands_at(id).is_some() || error.is_not_worker(id))
                        && self.may_repeat(&write.caller, &view, place).await?) =>
            {
                self.check_same(place, &says, error.into()).await?;
                place
            }
            (Err(error), _) => return Err(error.into()),
            (Ok(_), None) => {
                return Err(HarnError::new(HarnErrorCode::InternalError, "the answer was lost"));
            }
        };
        let dependency = RecordedDependencyResource {
            object: RecordedDependencyObject::Dependency,
            task_id: id.to_owned(),
            key: request.key,
            kind: request.kind,
            visibility: request.visibility,
            sha256: says.sha256,
            request_sha256: says.request_sha256,
            artifact_id: says.artifact_id,
            event_id: place.id(),
        };
        Ok(Recorded { dependency, again: before == Some(place) })
    }

    /// `POST /v1/tasks/{task_id}/checkpoints`. The Artifact's id is the checkpoint's.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where the caller does not work on it.
    pub async fn record_checkpoint(
        &self,
        write: &WriteRequest,
        id: &str,
        request: RecordCheckpointRequest,
    ) -> Result<Artifact, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        let checkpoint = self.draw(ResourceKind::Artifact);
        let content = request.state.as_ref().map(canonical).transpose()?;
        let mut artifact =
            owned_artifact(view.owner(), &checkpoint, ArtifactKind::Snapshot, Visibility::Internal);
        artifact.envelope.metadata = JsonObject::with("label", request.label.as_str());
        let mut documents = Vec::new();
        // So that nobody takes the same bytes away meanwhile.
        let _turn = self.changing.lock().await;
        if let Some(bytes) = content {
            let (digest, kept) = self.keep_for(&checkpoint, &bytes)?;
            artifact.sha256 = Some(digest.bare());
            documents.extend(kept);
        } else {
            artifact.uri = None;
        }
        let (kind, owner) = (DocumentKind::Artifact, view.owner());
        documents.push(self.draft(kind, &checkpoint, owner, Expect::New, &artifact)?);
        let payload = JsonObject::with("label", request.label);
        let says = NoteBody { payload, ..NoteBody::default() };
        let mut note = self.note(id, CHECKPOINT_CREATED, &says)?;
        note.note.checkpoint = Some(checkpoint.clone());
        let act = Some(HarnAct::WorkOn { task: id.to_owned() });
        let command = HarnCommand { act, documents, notes: vec![note], ..HarnCommand::default() };
        let outcome = self.write_on(write, &view, "checkpoints", command).await?;
        let first =
            crate::handle::write::put_by(&outcome, DocumentKind::Artifact).unwrap_or(&checkpoint);
        self.get(&write.caller, first).await
    }

    /// A replay has no answers but those it is given, and a secret is never kept as something else.
    fn check_recordable(
        &self,
        id: &str,
        request: &RecordDependencyRequest,
    ) -> Result<(), HarnError> {
        let replays = |state: &State| state.documents.get(DocumentKind::Replay, id).is_some();
        if self.field.with_state(replays) {
            let message = format!("task {id} is a replay: it is given its answers by resolve");
            return Err(HarnError::new(HarnErrorCode::Conflict, message));
        }
        if request.key.starts_with("secret:") && request.kind != DependencyKind::SecretValue {
            let message = "kind: must be secret_value for a key of secrets";
            return Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at("kind"));
        }
        Ok(())
    }

    /// What is kept of an answer. Of a secret, only what distinguishes it from others. A module is told what is in an
    /// Artifact, so that whoever names one must be able to read it.
    async fn answer(
        &self,
        write: &WriteRequest,
        task: &str,
        request: &RecordDependencyRequest,
    ) -> Result<NoteBody, HarnError> {
        let mut says = NoteBody { request_sha256: request.request, ..NoteBody::default() };
        match &request.answer {
            DependencyAnswer::Value(value) if request.kind == DependencyKind::SecretValue => {
                says.sha256 = self.options.secrets.within(task).digest(value);
            }
            DependencyAnswer::Value(value) => {
                says.sha256 = Some(Sha256::of(&canonical(value)?));
                says.value = Some(value.clone());
            }
            DependencyAnswer::Artifact(id) => {
                let found = self.readable_artifact(&write.caller, id).await;
                let artifact = found.map_err(|error| error.at("artifact_id"))?;
                let readable =
                    self.held(&artifact).is_some() && self.may_read(&write.caller, &artifact);
                if !readable && self.field.with_state(|state| is_module_task(state, task)) {
                    return Err(not_found(ResourceKind::Artifact, id).at("artifact_id"));
                }
                let digest = artifact.sha256.as_deref().map(Sha256::parse_bare);
                let Some(Ok(digest)) = digest else {
                    let message = "artifact_id: the Artifact has no digest that the caller may see";
                    let error = HarnError::new(HarnErrorCode::InvalidRequest, message);
                    return Err(error.at("artifact_id"));
                };
                says.sha256 = Some(digest);
                says.artifact_id = Some(id.clone());
            }
        }
        let digest = says.sha256.map(|digest| ("sha256".to_owned(), digest.to_string().into()));
        says.payload.extend(digest);
        Ok(says)
    }

    pub(crate) fn recorded_at(&self, task: &str, key: &str) -> Option<EventPosition> {
        self.field.with_state(|state| {
            state.streams.task(task)?.dependencies.get(key).copied().map(EventPosition)
        })
    }

    /// Whether a caller may repeat a recorded answer of a Task that is over or that another has now: who recorded it may, and nobody else finds
    /// out by guessing.
    async fn may_repeat(
        &self,
        caller: &Caller,
        view: &TaskView,
        place: EventPosition,
    ) -> Result<bool, HarnError> {
        let session = view.entry.session.as_deref();
        let own = self.field.with_state(|state| caller.authority_within(state, session));
        if own >= AUTHORITY_OTHERS {
            return Ok(true);
        }
        let (position, _) = place.0;
        let (header, _) = self.reading(move |harness| harness.commit(position)).await?;
        Ok(header.actor == caller.agent)
    }

    /// Checks that what a key has is the same again.
    async fn check_same(
        &self,
        place: EventPosition,
        says: &NoteBody,
        error: HarnError,
    ) -> Result<(), HarnError> {
        let read = self.reading(move |harness| {
            harness.field.body_at::<NoteBody>(place.0).map_err(|error| harn_error(&error))
        });
        let before = read.await?;
        let same = before.is_some_and(|before| {
            before.sha256.is_some()
                && before.sha256 == says.sha256
                && before.request_sha256 == says.request_sha256
        });
        if same { Ok(()) } else { Err(error.at("key")) }
    }
}
