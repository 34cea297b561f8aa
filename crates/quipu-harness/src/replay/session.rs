//! `POST /v1/sessions/{session_id}/replay`: a fork in which every Task of the Session is replayed, in the order
//! of their making. Ours: the protocol demands it of the level and names no endpoint.

use quipu_core::DocumentKind;
use quipu_wire::harn::{
    EventKind, ForkSessionRequest, HarnError, HarnErrorCode, HarnSession, JsonObject,
    ReplaySessionRequest, ReplayTaskRequest,
};
use serde_json::json;

use super::start::Destination;
use crate::{
    Harness, WriteRequest,
    handle::{
        retry::{WriteError, retry_until_unchanged},
        write::Target,
    },
    stored::session_facts::ChangeEvent,
    task::tasks::TaskView,
};

/// The most Tasks that one request replays.
const TASKS_MAX: usize = 1000;

impl Harness {
    /// `POST /v1/sessions/{session_id}/replay`.
    ///
    /// # Errors
    /// 404 where there is none, 409 where a Task of it is not over, 422 for the built-in Session.
    pub async fn replay_session(
        &self,
        write: &WriteRequest,
        id: &str,
        request: ReplaySessionRequest,
    ) -> Result<HarnSession, HarnError> {
        let views = self.tasks_to_replay(write, id)?;
        let fork = ForkSessionRequest {
            at_event_id: None,
            branch_id: None,
            metadata: request.metadata.clone(),
        };
        let fork = self.fork_session(write, id, fork).await?;
        let session = fork.envelope.id.clone();
        let plain = WriteRequest { key: None, ..write.clone() };
        let path = format!("/v1/sessions/{id}/replay");
        let replay = ReplayTaskRequest { reason: request.reason, ..ReplayTaskRequest::default() };
        let mut made = Vec::new();
        for view in views {
            if let Some(done) = self.replay_in(&session, &view.id) {
                made.push(done);
                continue;
            }
            let workspace = view.workspace.clone();
            let target = Target { workspace: &workspace, method: "POST", path: &path };
            let place =
                Destination { session: Some(session.clone()), branch: fork.branch_id.clone() };
            let task = self.start_replay(&plain, target, view, replay.clone(), Some(place)).await?;
            made.push(task.envelope.id);
        }
        self.announce_replays(&plain, &session, id, &made).await?;
        self.session(&write.caller, &session).await
    }

    /// The Tasks of a Session, but for replays, in the order of their making.
    fn tasks_to_replay(
        &self,
        write: &WriteRequest,
        session: &str,
    ) -> Result<Vec<TaskView>, HarnError> {
        self.check_session(&write.caller, session)?;
        let views: Vec<TaskView> = self.field.with_state(|state| {
            let made = state.tasks.made_from((0, 0));
            let here = made.filter(|(_, _, entry)| entry.session.as_deref() == Some(session));
            let own =
                here.filter(|(_, id, _)| state.documents.get(DocumentKind::Replay, id).is_none());
            let views = own.filter_map(|(_, id, _)| TaskView::find(state, &write.caller, id));
            views.take(TASKS_MAX + 1).collect()
        });
        let conflict = |message: String| HarnError::new(HarnErrorCode::Conflict, message);
        if views.len() > TASKS_MAX {
            return Err(conflict(format!("session {session} has more than {TASKS_MAX} tasks")));
        }
        if let Some(open) = views.iter().find(|view| !self.settled_state(view).is_terminal()) {
            let message = format!("task {} of the session is not over", open.id);
            return Err(conflict(message));
        }
        Ok(views)
    }

    /// The replay of a Task in a Session, where an earlier request of the same key got so far.
    fn replay_in(&self, session: &str, source: &str) -> Option<String> {
        let replays: Vec<String> = self.field.with_state(|state| {
            let made = state.documents.of_session(DocumentKind::Replay, session);
            made.map(|(_, entry)| entry.id.clone()).collect()
        });
        replays.into_iter().find(|id| {
            let document = self.replay_document(id).ok().flatten();
            document.is_some_and(|it| it.plan.identity.source_task_id == source)
        })
    }

    async fn announce_replays(
        &self,
        write: &WriteRequest,
        fork: &str,
        source: &str,
        tasks: &[String],
    ) -> Result<(), HarnError> {
        retry_until_unchanged(|| self.announce_once(write, fork, source, tasks)).await
    }

    async fn announce_once(
        &self,
        write: &WriteRequest,
        fork: &str,
        source: &str,
        tasks: &[String],
    ) -> Result<(), WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = self.field.head().position;
        let (view, mut facts) = self.session_to_change(&write.caller, fork).await?;
        if facts.change_event.is_some() {
            return Ok(());
        }
        let mut payload = JsonObject::with("source_session_id", source);
        payload.insert("replay_task_ids".to_owned(), json!(tasks));
        facts.change_event = Some(ChangeEvent { event: EventKind::SessionReplayed, payload });
        let path = format!("/v1/sessions/{source}/replay");
        self.change_session(write, &view, ("POST", &path), &facts, read_at).await
    }
}
