//! What a module asks of somebody outside: named by the Event of the checkpoint at which it stopped, and answered
//! by `POST /v1/tasks/{task_id}/dependencies` under the key that it names. Whoever may write in the Session may
//! answer; nobody claims such a Task.

use quipu_core::{
    DocumentKind,
    event::coordination::ReasonBody,
    rules::harn::{Expect, HarnAct, HarnCommand, NoteDraft},
};
use quipu_replay::module::Request;
use quipu_wire::{
    akashik::TaskStatus,
    harn::{
        ArtifactKind, DependencyKind, HarnError, HarnErrorCode, JsonObject,
        RecordDependencyRequest, ResourceKind, Sha256, Visibility,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Harness, NoteBody,
    handle::failure::harn_error,
    stored::note::CHECKPOINT_CREATED,
    task::{
        artifact::owned_artifact,
        installed_module::{MODULE_KEY, is_module_task, refused},
        tasks::TaskView,
    },
};

/// In the payload of a checkpoint's Event: what is asked.
const QUESTION: &str = "asks";
const MIME: &str = "application/x-quipu-module-snapshot";

/// What a module asks, as the Event says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Question {
    key: String,
    kind: DependencyKind,
    capability: String,
    request_sha256: Sha256,
    /// Left out where a secret is in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
}

impl Harness {
    /// The write by which a Task waits for an answer, with where it stopped as a checkpoint.
    pub(crate) fn question_command(
        &self,
        view: &TaskView,
        request: Request,
        snapshot: &[u8],
        mut notes: Vec<NoteDraft>,
    ) -> Result<HarnCommand, HarnError> {
        let id = self.draw(ResourceKind::Artifact);
        let (digest, [kept, held]) = self.keep_for(&id, snapshot)?;
        let mut artifact =
            owned_artifact(view.owner(), &id, ArtifactKind::Snapshot, Visibility::Internal);
        MIME.clone_into(&mut artifact.mime_type);
        artifact.sha256 = Some(digest.bare());
        artifact.envelope.metadata = JsonObject::with("label", request.key.as_str());
        let (kind, owner) = (DocumentKind::Artifact, view.owner());
        let document = self.draft(kind, &id, owner, Expect::New, &artifact)?;
        let reason = format!("the module asks for {}", request.key);
        let body = self.field.seal(&ReasonBody { reason }).map_err(|error| harn_error(&error))?;
        let question = Question {
            key: request.key,
            kind: request.kind,
            capability: request.capability,
            request_sha256: request.sha256,
            arguments: (!request.holds_secret).then_some(request.arguments),
        };
        let mut payload = JsonObject::with("label", question.key.as_str());
        payload.insert(QUESTION.to_owned(), serde_json::to_value(&question).unwrap_or_default());
        let says = NoteBody { payload, ..NoteBody::default() };
        let mut note = self.note(&view.id, CHECKPOINT_CREATED, &says)?;
        note.note.checkpoint = Some(id);
        notes.push(note);
        let act = HarnAct::Await { task: view.id.clone(), auth: false, body };
        let documents = vec![kept, held, document];
        Ok(HarnCommand { act: Some(act), documents, notes, ..HarnCommand::default() })
    }

    /// The act by which an answer is recorded: work, or what a module waits for. Fills in what was asked.
    ///
    /// # Errors
    /// 400 for what a module did not ask so, 409 where it waits for something else.
    pub(crate) async fn act_of_answer(
        &self,
        view: &TaskView,
        request: &mut RecordDependencyRequest,
    ) -> Result<HarnAct, HarnError> {
        let task = view.id.clone();
        if request.key == MODULE_KEY {
            return Err(refused("key", "is kept for the module that a Task runs"));
        }
        if !self.field.with_state(|state| is_module_task(state, &task)) {
            return Ok(HarnAct::WorkOn { task });
        }
        let (of, key) = (view.clone(), request.key.clone());
        let asked = self.reading(move |harness| harness.question_under(&of, &key)).await?;
        if request.kind != asked.kind {
            return Err(refused("kind", &format!("the module asks for a {}", asked.kind)));
        }
        let before = request.request.get_or_insert(asked.request_sha256);
        if *before != asked.request_sha256 {
            return Err(refused("request", "the module asks something else"));
        }
        Ok(HarnAct::Answer { task })
    }

    /// What a module asked under a key: before, or now. Reads storage.
    fn question_under(&self, view: &TaskView, key: &str) -> Result<Question, HarnError> {
        let conflict = |message: String| HarnError::new(HarnErrorCode::Conflict, message).at("key");
        let questions = self.questions(&view.id)?;
        let is_recorded = self.recorded_at(&view.id, key).is_some();
        let last = questions.first().filter(|_| view.entry.status == TaskStatus::Blocked);
        match (questions.iter().find(|question| question.key == key), last) {
            (Some(question), _) if is_recorded => Ok(question.clone()),
            (_, Some(last)) if last.key == key => Ok(last.clone()),
            (_, Some(last)) => Err(conflict(format!("task {} waits for {}", view.id, last.key))),
            (_, None) => Err(conflict(format!("task {} waits for no answer", view.id))),
        }
    }

    /// What a Task's module asked, the last first. Reads storage.
    fn questions(&self, task: &str) -> Result<Vec<Question>, HarnError> {
        let mut places: Vec<_> = self.field.with_state(|state| {
            let stream = state.streams.task(task);
            stream.map(|it| it.checkpoints.values().copied().collect()).unwrap_or_default()
        });
        places.sort_unstable_by(|one, other| other.cmp(one));
        let mut questions = Vec::new();
        for place in places {
            let body = self.field.body_at::<NoteBody>(place).map_err(|error| harn_error(&error))?;
            let question = body.and_then(|body| body.payload.get(QUESTION).cloned());
            questions.extend(question.and_then(|it| serde_json::from_value(it).ok()));
        }
        Ok(questions)
    }
}
