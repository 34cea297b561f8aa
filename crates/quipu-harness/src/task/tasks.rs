//! Tasks as they are read: what COORDINATE's state says of a task, what its document says, and where it
//! stands in this protocol's words.

use quipu_core::{
    DocumentKind, DocumentOwner, State,
    event::coordination::{ReasonBody, TaskBody},
    rules::harn::HarnCommand,
    state::{DocumentEntry, TaskEntry},
};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{
        Failure, HarnError, HarnErrorCode, HarnTask, HarnTaskObject, JsonObject, List,
        MessageInput, Outcome, ResourceEnvelope, ResourceKind, TaskInput, TaskState,
    },
    json::timestamp::rfc3339,
};

use crate::{
    Caller, EventPosition, Harness, WriteRequest,
    handle::{failure::harn_error, page::Page, retry::WriteError, write::Target},
    not_found,
    stored::{built_in::SESSION_DEFAULT, named_after::outcome_id},
    visibility::{
        access::{reaches, reader_reaches, status_of, workspace_of},
        parts,
    },
};
use quipu_field::HarnOutcome;
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    pub workspace: Option<String>,
    pub session: Option<String>,
    pub status: Option<TaskState>,
    /// What they are a part of or replay.
    pub parent: Option<String>,
    pub queue: Option<String>,
    pub persona: Option<String>,
    /// Whether their last attempt is used up.
    pub dead_letter: Option<bool>,
}

#[derive(Debug, Clone)]
pub(crate) struct TaskView {
    pub(crate) id: String,
    pub(crate) entry: TaskEntry,
    pub(crate) status: TaskState,
    pub(crate) workspace: String,
    document: Option<DocumentEntry>,
    outcome: Option<DocumentEntry>,
    receipt: Option<String>,
}

pub(crate) const fn is_over(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
}

pub(crate) fn is_replay(state: &State, task: &str) -> bool {
    state.documents.get(DocumentKind::Replay, task).is_some()
}

/// Nothing is said to a Task that has ended.
pub(crate) fn has_ended(task: &str) -> HarnError {
    HarnError::new(HarnErrorCode::Conflict, format!("task {task} has ended"))
}

impl TaskView {
    fn of(state: &State, id: &str, entry: &TaskEntry) -> Self {
        let document = state.documents.get(DocumentKind::Task, id).cloned();
        let owned = document.as_ref().and_then(|document| document.owner.workspace.clone());
        let session = entry.session.as_deref();
        let mut receipts = state.documents.of_task(DocumentKind::Receipt, id);
        Self {
            id: id.to_owned(),
            entry: entry.clone(),
            status: status_of(state, id, entry),
            workspace: owned.unwrap_or_else(|| workspace_of(state, session)),
            document,
            outcome: state.documents.get(DocumentKind::Outcome, &outcome_id(id)).cloned(),
            receipt: receipts.next_back().map(|(_, entry)| entry.id.clone()),
        }
    }

    /// The Task, whoever asks.
    pub(crate) fn any(state: &State, id: &str) -> Option<Self> {
        state.tasks.get(id).map(|entry| Self::of(state, id, entry))
    }

    /// The Task, if the caller may know of it.
    pub(crate) fn find(state: &State, caller: &Caller, id: &str) -> Option<Self> {
        let entry = state.tasks.get(id)?;
        reaches(state, caller, entry.session.as_deref()).then(|| Self::of(state, id, entry))
    }

    /// Its Session, as this protocol names it.
    pub(crate) fn session_id(&self) -> &str {
        self.entry.session.as_deref().unwrap_or(SESSION_DEFAULT)
    }

    pub(crate) fn persona(&self) -> Option<&str> {
        self.document.as_ref()?.owner.persona.as_deref()
    }

    /// To whom belongs what the Task makes.
    pub(crate) fn owner(&self) -> DocumentOwner {
        DocumentOwner {
            workspace: Some(self.workspace.clone()),
            session: self.entry.session.clone(),
            task: Some(self.id.clone()),
            ..DocumentOwner::default()
        }
    }

    fn passes(&self, filter: &TaskFilter) -> bool {
        let TaskFilter { workspace, status, persona, .. } = filter;
        workspace.as_ref().is_none_or(|workspace| *workspace == self.workspace)
            && status.is_none_or(|status| status == self.status)
            && persona.as_deref().is_none_or(|persona| self.persona() == Some(persona))
            && in_session(&self.entry, filter)
    }
}

fn in_session(entry: &TaskEntry, filter: &TaskFilter) -> bool {
    let session = entry.session.as_deref().unwrap_or(SESSION_DEFAULT);
    filter.session.as_ref().is_none_or(|asked| asked == session)
}

/// What is found out without the Task's documents.
fn passes_by_state(state: &State, id: &str, entry: &TaskEntry, filter: &TaskFilter) -> bool {
    let TaskFilter { parent, queue, dead_letter, .. } = filter;
    in_session(entry, filter)
        && parent.as_ref().is_none_or(|parent| state.work.is_part_of(id, parent))
        && queue.as_deref().is_none_or(|queue| state.work.queue_of(id) == Some(queue))
        && dead_letter.is_none_or(|dead| state.work.get(id).is_some_and(|it| it.dead) == dead)
}

/// Why a Task is given up whose attempts are used up; with the last failure, unless its last worker was lost.
pub(crate) fn attempts_exhausted(attempts: u32, last: Option<Failure>) -> Failure {
    let why = match &last {
        Some(failure) => format!("the last failed: {}", failure.message),
        None => "the last lost its worker".to_owned(),
    };
    let mut details = JsonObject::with("attempts", attempts);
    let last = last.and_then(|failure| serde_json::to_value(failure).ok());
    details.extend(last.map(|failure| ("last".to_owned(), failure)));
    let code = "attempts_exhausted".to_owned();
    Failure { code, message: format!("all {attempts} attempts are used up; {why}"), details }
}

impl Harness {
    /// Why a Task failed whose last worker was lost in its last attempt; nothing if it did not.
    pub(crate) fn exhausted(&self, task: &str) -> Option<Failure> {
        self.field.with_state(|state| {
            let entry = state.work.get(task).filter(|entry| entry.dead)?;
            entry.terms.retry.map(|policy| attempts_exhausted(policy.max_attempts, None))
        })
    }

    /// A Task that the caller may know of.
    pub(crate) fn view_task(&self, caller: &Caller, id: &str) -> Result<TaskView, HarnError> {
        let found = self.field.with_state(|state| TaskView::find(state, caller, id));
        found.ok_or_else(|| not_found(ResourceKind::Task, id))
    }

    pub(crate) async fn write_on(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        verb: &str,
        command: HarnCommand,
    ) -> Result<HarnOutcome, WriteError> {
        let path = format!("/v1/tasks/{}/{verb}", view.id);
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        self.write(write, target, view.entry.session.as_deref(), command).await
    }

    /// `GET /v1/tasks/{task_id}`.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of.
    pub async fn task(&self, caller: &Caller, id: &str) -> Result<HarnTask, HarnError> {
        let (view, caller) = (self.view_task(caller, id)?, caller.clone());
        self.reading(move |harness| harness.show_task(&caller, view)).await
    }

    /// Where a Task stands; nothing where there is none that the caller may know of.
    #[must_use]
    pub fn task_state(&self, caller: &Caller, id: &str) -> Option<TaskState> {
        self.view_task(caller, id).ok().map(|view| view.status)
    }

    /// `GET /v1/tasks` and `GET /v1/sessions/{session_id}/tasks`, in the order of their making.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn tasks(
        &self,
        caller: &Caller,
        page: Page,
        filter: TaskFilter,
    ) -> Result<List<HarnTask>, HarnError> {
        let reader = caller.reader_in(filter.session.as_deref());
        let taken = self.field.with_state(|state| {
            let made = state.tasks.made_from(EventPosition::at(page.from).0);
            let made = made.filter(|(_, id, entry)| passes_by_state(state, id, entry, &filter));
            let reached =
                |entry: &TaskEntry| reader_reaches(state, &reader, entry.session.as_deref());
            let known = made.filter(|(_, _, entry)| reached(entry));
            let views = known.map(|(place, id, entry)| {
                (EventPosition(place).sequence(), TaskView::of(state, id, entry))
            });
            page.take(views.filter(|(_, view)| view.passes(&filter)))
        });
        let caller = caller.clone();
        self.reading(move |harness| taken.list(|view| harness.show_task(&caller, view))).await
    }

    /// The Task as it is shown. Reads storage.
    pub(crate) fn show_task(&self, caller: &Caller, view: TaskView) -> Result<HarnTask, HarnError> {
        let mut task = self.task_document(&view)?;
        task.input = parts::input(caller, task.input);
        let TaskView { id, entry, status, workspace, outcome, receipt, .. } = view;
        let ended = status.is_terminal();
        if ended && let Some(outcome) = &outcome {
            task.failure = self.show::<Outcome>(caller, outcome)?.failure;
        }
        if status == TaskState::Failed && task.failure.is_none() {
            task.failure = Some(self.failure_of(&entry)?);
        }
        let state_of_retries = self.field.with_state(|state| retry_state(state, &id));
        task.envelope.metadata.extend(state_of_retries.map(|it| ("retry_state".to_owned(), it)));
        task.envelope.id = id;
        task.envelope.created_at = rfc3339(entry.created_ms);
        task.envelope.updated_at = rfc3339(entry.updated_ms);
        task.workspace_id = workspace;
        task.session_id = entry.session.unwrap_or_else(|| SESSION_DEFAULT.to_owned());
        task.status = status;
        task.created_by = entry.created_by;
        task.assigned_agent_id = entry.assigned_to;
        task.outcome_id = outcome.filter(|_| ended).map(|outcome| outcome.id);
        task.receipt_id = receipt.filter(|_| ended);
        task.started_at = entry.started_ms.map(rfc3339);
        let at = rfc3339(entry.updated_ms);
        match status {
            TaskState::Completed | TaskState::Failed => task.completed_at = Some(at),
            TaskState::Canceled => task.canceled_at = Some(at),
            TaskState::Submitted
            | TaskState::Working
            | TaskState::InputRequired
            | TaskState::AuthRequired => {}
        }
        Ok(task)
    }

    /// What the document says; of a task that the other protocol made, what its own text says.
    pub(crate) fn task_document(&self, view: &TaskView) -> Result<HarnTask, HarnError> {
        let failed = |error| harn_error(&error);
        let said = match &view.document {
            Some(document) => self.field.body_at::<HarnTask>(document.at).map_err(failed)?,
            None => None,
        };
        if let Some(task) = said {
            return Ok(task);
        }
        let place = (view.entry.position, view.entry.event);
        let body = self.field.body_at::<TaskBody>(place).map_err(failed)?;
        // A text that was erased leaves a Task without words.
        let text = body.map(|TaskBody { title, purpose, question }| {
            [Some(title), Some(purpose), question].into_iter().flatten().collect::<Vec<_>>()
        });
        let input = MessageInput::user(text.unwrap_or_default().join("\n"));
        Ok(blank(&view.id, TaskInput::Message(input)))
    }

    fn failure_of(&self, entry: &TaskEntry) -> Result<Failure, HarnError> {
        let body = match entry.reason {
            Some(place) => self.field.body_at::<ReasonBody>(place),
            None => Ok(None),
        };
        let body = body.map_err(|error| harn_error(&error))?;
        let message = body.map_or_else(|| "no reason is known".to_owned(), |body| body.reason);
        Ok(Failure { code: "task_failed".to_owned(), message, details: JsonObject::default() })
    }
}

/// How the attempts of a Task stand; nothing where it is tried without end.
fn retry_state(state: &State, task: &str) -> Option<Value> {
    let entry = state.work.get(task).filter(|entry| entry.terms.retry.is_some())?;
    let due_at = Some(entry.due_ms).filter(|due_ms| *due_ms > 0).map(rfc3339);
    Some(json!({
        "failed_attempts": entry.failed_attempts, "due_at": due_at, "dead_letter": entry.dead,
    }))
}

/// A Task of which nothing is known but what it is to do.
pub(crate) fn blank(id: &str, input: TaskInput) -> HarnTask {
    HarnTask {
        object: HarnTaskObject::Task,
        envelope: ResourceEnvelope::new(id, ""),
        session_id: String::new(),
        workspace_id: String::new(),
        status: TaskState::Submitted,
        input,
        created_by: String::new(),
        persona_id: None,
        branch_id: None,
        parent_task_id: None,
        assigned_agent_id: None,
        receipt_id: None,
        outcome_id: None,
        quota_id: None,
        started_at: None,
        completed_at: None,
        canceled_at: None,
        failure: None,
    }
}
