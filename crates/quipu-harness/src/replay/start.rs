//! `POST /v1/tasks/{task_id}/replay`: admits a replay and makes its Task, in one commit with its plan.

use quipu_core::{
    DocumentKind, DocumentOwner, State,
    event::coordination::{TaskBody, WorkTerms},
    rules::harn::{Expect, HarnAct, HarnCommand},
};
use quipu_replay::task::{ReplayIdentity, admit};
use quipu_wire::harn::{
    EventKind, HarnError, HarnErrorCode, HarnTask, JsonObject, ReplayTaskRequest, TaskState,
};
use serde_json::json;

use super::source::Source;
use crate::{
    Caller, Harness, NoteBody, WriteRequest,
    handle::{
        failure::harn_error,
        held_secrets::secrets_of,
        write::{Target, put_by},
    },
    recording::document::{DEPTH_MAX, Executor, ReplayDocument},
    task::{
        installed_module::MODULE_KEY,
        tasks::{TaskView, blank},
    },
    work::terms::terms_of,
};

/// How often another id is tried where others replay the same Task at the same moment.
const ATTEMPTS: usize = 64;

/// Where a replay is made, if not beside its source.
#[derive(Debug, Clone)]
pub(crate) struct Destination {
    pub(crate) session: Option<String>,
    pub(crate) branch: Option<String>,
}

struct Admitted {
    document: ReplayDocument,
    task: HarnTask,
}

impl Harness {
    /// `POST /v1/tasks/{task_id}/replay`.
    ///
    /// # Errors
    /// 404 where there is no such Task that the caller may know of, 409 where it is not over, 400 where the
    /// request cannot be carried out.
    pub async fn replay_task(
        &self,
        write: &WriteRequest,
        source: &str,
        request: ReplayTaskRequest,
    ) -> Result<HarnTask, HarnError> {
        let view = self.view_task(&write.caller, source)?;
        let path = format!("/v1/tasks/{source}/replay");
        let workspace = view.workspace.clone();
        let target = Target { workspace: &workspace, method: "POST", path: &path };
        self.start_replay(write, target, view, request, None).await
    }

    /// Admits a replay, makes its Task and, in process, sets it going.
    pub(crate) async fn start_replay(
        &self,
        write: &WriteRequest,
        target: Target<'_>,
        view: TaskView,
        request: ReplayTaskRequest,
        destination: Option<Destination>,
    ) -> Result<HarnTask, HarnError> {
        let session = view.entry.session.clone();
        if let Some(outcome) = self.done_before(write, target, session.as_deref()).await? {
            let first = put_by(&outcome, DocumentKind::Task).unwrap_or_default();
            return self.task(&write.caller, first).await;
        }
        let (caller, of) = (write.caller.clone(), view.clone());
        let secrets = secrets_of(&request);
        let admitted = self.reading(move |harness| harness.admit(&caller, &of, &request)).await?;
        let Admitted { mut document, mut task } = admitted;
        let mut view = view;
        if let Some(Destination { session, branch }) = destination {
            (view.entry.session, task.branch_id) = (session, branch);
        }
        let session = view.entry.session.clone();
        let source = view.id.clone();
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let next = self.field.with_state(|state| free_identity(state, &source));
            (document.plan.identity, document.number) = next;
            let command = self.starting(&view, &document, &task)?;
            match self.write(write, target, session.as_deref(), command).await {
                Ok(outcome) => {
                    let own = &document.plan.identity.replay_task_id;
                    let id = put_by(&outcome, DocumentKind::Task).unwrap_or(own).to_owned();
                    match document.executor {
                        Executor::InProcess if id == *own => {
                            self.held.hold(&id, secrets);
                            self.run_in_background(&id);
                        }
                        Executor::Worker if id == *own => self.held.hold(&id, secrets),
                        Executor::InProcess | Executor::Worker => {}
                    }
                    return self.task(&write.caller, &id).await;
                }
                // Another node gave the id to a replay meanwhile.
                Err(error) if error.is_taken(&document.plan.identity.replay_task_id) => {
                    last = Some(error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let busy = || HarnError::new(HarnErrorCode::Conflict, "too many replays at once");
        Err(last.map_or_else(busy, HarnError::from))
    }

    /// Reads storage.
    fn admit(
        &self,
        caller: &Caller,
        view: &TaskView,
        request: &ReplayTaskRequest,
    ) -> Result<Admitted, HarnError> {
        let executor = Executor::read(&request.metadata)?;
        if request.overrides.contains_key(MODULE_KEY) {
            // Who could, could run code that nobody installed.
            let message = format!("override.{MODULE_KEY}: the module of a Task stays the same");
            let error = HarnError::new(HarnErrorCode::InvalidRequest, message);
            return Err(error.at(format!("override.{MODULE_KEY}")));
        }
        let state = self.settled_state(view);
        let behind = self.replay_document(&view.id)?.map_or(0, |document| document.depth + 1);
        if behind >= DEPTH_MAX {
            let message = format!("task_id: more than {DEPTH_MAX} replays are behind it");
            return Err(HarnError::new(HarnErrorCode::Conflict, message).at("task_id"));
        }
        let source = Source::read(self, caller, (&view.id, state), request)?;
        let identity = ReplayIdentity::of(&view.id);
        let plan = admit(request, &source, identity, self.options.replay_trust)?;
        let plan = plan.without_secrets(&self.secrets_of_substitutes(caller, &view.id)?);
        let before = self.task_document(view)?;
        let mut task = blank("", before.input);
        task.envelope.metadata = request.metadata.clone();
        task.persona_id = before.persona_id;
        task.branch_id = before.branch_id;
        task.quota_id = before.quota_id;
        task.parent_task_id = Some(view.id.clone());
        let (strict, number, module_died) = (request.strict, 1, false);
        let document =
            ReplayDocument { plan, executor, depth: behind, strict, number, module_died };
        Ok(Admitted { document, task })
    }

    /// Where a Task stands for who wants to replay it: it is over once it has its receipt.
    pub(crate) fn settled_state(&self, view: &TaskView) -> TaskState {
        let waits = self.field.with_state(|state| state.endings.waits(&view.id));
        if waits { TaskState::Working } else { view.status }
    }

    /// The write that makes a replay Task.
    fn starting(
        &self,
        source: &TaskView,
        document: &ReplayDocument,
        task: &HarnTask,
    ) -> Result<HarnCommand, HarnError> {
        let id = &document.plan.identity.replay_task_id;
        let mut task = task.clone();
        task.envelope.id.clone_from(id);
        let owner = || DocumentOwner {
            workspace: Some(source.workspace.clone()),
            session: source.entry.session.clone(),
            task: Some(id.clone()),
            persona: None,
        };
        let title = format!("replay of {}", source.id);
        let purpose = document.plan.reason.clone().unwrap_or_else(|| title.clone());
        let body = TaskBody { title, purpose, question: None };
        let body = self.field.seal(&body).map_err(|error| harn_error(&error))?;
        let by_field = document.executor == Executor::InProcess;
        let terms = terms_of(&task.envelope.metadata, Some(&source.id))?;
        // How often a run was tried is its own; a replay is tried once.
        let terms = terms.map(|terms| WorkTerms { retry: None, ..terms });
        let says = NoteBody { payload: started(document), ..NoteBody::default() };
        Ok(HarnCommand {
            act: Some(HarnAct::SubmitTask { task: id.clone(), by_field, terms, body }),
            documents: vec![
                self.draft(DocumentKind::Task, id, owner(), Expect::New, &task)?,
                self.draft(DocumentKind::Replay, id, owner(), Expect::New, document)?,
            ],
            notes: vec![self.note(id, EventKind::ReplayStarted.as_str(), &says)?],
            ..HarnCommand::default()
        })
    }
}

/// The payload of the note that begins a replay: keys, never substitutes.
fn started(document: &ReplayDocument) -> JsonObject {
    let plan = &document.plan;
    let keys: Vec<&String> = plan.overrides.keys().collect();
    let payload = json!({
        "source_task_id": plan.identity.source_task_id,
        "mode": plan.mode,
        "executor": document.executor,
        "override_keys": keys,
        "checkpoint_id": plan.boundary.as_ref().map(|boundary| &boundary.checkpoint_id),
        "reason": plan.reason,
        "strict": document.strict.then_some(true),
    });
    let mut payload = JsonObject(payload.as_object().cloned().unwrap_or_default());
    payload.retain(|_, value| !value.is_null());
    payload
}

/// The next free identity of a replay, and which replay of its source it is.
fn free_identity(state: &State, source: &str) -> (ReplayIdentity, u32) {
    let first = ReplayIdentity::of(source);
    let free = |id: &str| {
        state.tasks.get(id).is_none() && state.documents.taken(DocumentKind::Task, id).is_none()
    };
    let numbered = |number: u32| match number {
        1 => first.replay_task_id.clone(),
        _ => format!("{}_{number}", first.replay_task_id),
    };
    let found = (1u32..).find(|number| free(&numbered(*number))).unwrap_or(u32::MAX);
    (first.clone().with_replay_task(numbered(found)), found)
}
