//! What is said to a Task: what it waits for, a word in between, or whether a tool may be called.

use quipu_core::{
    DocumentKind,
    rules::harn::{HarnAct, HarnCommand},
};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{AppendTaskMessageRequest, EventKind, HarnError, JsonObject, Message, TaskMessageKind},
};

use crate::{
    Harness, NoteBody, WriteRequest,
    handle::write::{Target, put_by},
    stored::built_in::SESSION_DEFAULT,
    task::tasks::{TaskView, has_ended},
};

impl Harness {
    /// `POST /v1/tasks/{task_id}/messages`. A Task that waits for an answer goes on with it; where it asked for a
    /// permission, the confirmation is the answer.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where it has ended, 403 where it waits for somebody else.
    pub async fn append_task_message(
        &self,
        write: &WriteRequest,
        id: &str,
        request: AppendTaskMessageRequest,
    ) -> Result<Message, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        let path = format!("/v1/tasks/{id}/messages");
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        if view.status.is_terminal() && !self.key_was_used(write, target) {
            return Err(has_ended(id));
        }
        if !self.key_was_used(write, target) {
            let (session, said) = (view.session_id(), &request.message.metadata);
            self.check_live_claim(&write.caller, session, said).await?;
        }
        let confirms =
            request.kind == TaskMessageKind::ToolConfirmation && !self.key_was_used(write, target);
        let _turn = if confirms { Some(self.changing.lock().await) } else { None };
        let answer = match confirms {
            true => self.confirm(write, &view, &request.message).await?,
            false => None,
        };
        let owner = view.owner();
        let draft = self.message_draft(owner, request.message)?;
        let drawn = draft.id.clone();
        let payload = JsonObject::with("message_id", drawn.as_str());
        let note = NoteBody { payload, ..NoteBody::default() };
        let mut command = match answer {
            Some(command) => command,
            None => {
                HarnCommand { act: Some(act_of(&view, request.kind)), ..HarnCommand::default() }
            }
        };
        command.documents.insert(0, draft);
        command.notes.insert(0, self.note(id, event_of(request.kind).as_str(), &note)?);
        let outcome = self.write(write, target, view.entry.session.as_deref(), command).await?;
        self.message(&write.caller, put_by(&outcome, DocumentKind::Message).unwrap_or(&drawn)).await
    }
}

/// A word in between moves nothing; an answer moves what waits for it.
fn act_of(view: &TaskView, kind: TaskMessageKind) -> HarnAct {
    let answers = match kind {
        TaskMessageKind::Input => !view.entry.awaits_auth,
        TaskMessageKind::ToolConfirmation => true,
        TaskMessageKind::Interrupt => false,
    };
    if answers && view.entry.status == TaskStatus::Blocked {
        return HarnAct::Resume { task: view.id.clone() };
    }
    let session = view.entry.session.clone();
    HarnAct::EnterSession { session: session.unwrap_or_else(|| SESSION_DEFAULT.to_owned()) }
}

const fn event_of(kind: TaskMessageKind) -> EventKind {
    match kind {
        TaskMessageKind::Input => EventKind::UserInputSubmitted,
        TaskMessageKind::ToolConfirmation => EventKind::UserToolConfirmation,
        TaskMessageKind::Interrupt => EventKind::UserMessage,
    }
}
