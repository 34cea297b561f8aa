//! How a worker comes by the next Task, and keeps the one that it has.

use std::{collections::BTreeSet, time::Duration};

use quipu_core::{
    DocumentKind, Refusal, State,
    rules::harn::{HarnAct, HarnCommand},
    state::{EventAddress, TaskEntry},
};
use quipu_field::FieldError;
use quipu_wire::{
    akashik::TaskStatus,
    harn::{
        ClaimFilter, ClaimNextRequest, ClaimTaskRequest, HarnError, HarnTask, HeartbeatRequest,
        LeaseObject, LeaseResource,
    },
    json::timestamp::rfc3339,
};
use tokio::time::timeout;

use crate::{
    Caller, Harness, WriteRequest,
    handle::retry::WriteError,
    stored::built_in::SESSION_DEFAULT,
    task::tasks::{TaskView, is_replay},
    visibility::access::reader_reaches,
};

/// How many Tasks are tried that others take at the same moment, before waiting for the next move.
const TRIED_MAX: usize = 64;

/// What there is for a worker now.
enum Next {
    Due(String),
    /// Nothing, until a time at which a pause is over.
    Nothing {
        due_ms: Option<u64>,
    },
}

impl Harness {
    /// `POST /v1/tasks/{task_id}/heartbeat`.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where the caller does not have it (any more).
    pub async fn heartbeat(
        &self,
        write: &WriteRequest,
        id: &str,
        request: &HeartbeatRequest,
    ) -> Result<LeaseResource, HarnError> {
        let view = self.view_task(&write.caller, id)?;
        let act = HarnAct::Renew { task: id.to_owned(), lease_ms: request.lease_ms };
        let command = HarnCommand { act: Some(act), ..HarnCommand::default() };
        self.write_on(write, &view, "heartbeat", command).await?;
        let lease = self.field.with_state(|state| state.tasks.get(id)?.lease);
        Ok(LeaseResource {
            object: LeaseObject::Lease,
            task_id: id.to_owned(),
            agent_id: write.caller.agent.clone(),
            expires_at: lease.map(|lease| rfc3339(lease.until_ms)),
        })
    }

    /// `POST /v1/tasks/claim`: the oldest Task that is due and that nobody has; nothing where there is none.
    ///
    /// # Errors
    /// 403 where the caller may not write, 503 where the log cannot be written.
    pub async fn claim_next(
        &self,
        write: &WriteRequest,
        request: &ClaimNextRequest,
    ) -> Result<Option<HarnTask>, HarnError> {
        // The same request again asks for another Task.
        let write = WriteRequest { key: None, ..write.clone() };
        let until = self.field.origin().now_ms().saturating_add(request.wait_ms);
        loop {
            let moves = self.field.task_moves();
            let due_ms = match self.claim_due(&write, request).await? {
                (Some(task), _) => return Ok(Some(task)),
                (None, due_ms) => due_ms,
            };
            let now = self.field.origin().now_ms();
            if now >= until {
                return Ok(None);
            }
            let pause = due_ms.unwrap_or(until).min(until).saturating_sub(now).max(1);
            let moved = timeout(Duration::from_millis(pause), moves.wait()).await;
            if moved == Ok(false) {
                return Ok(None);
            }
        }
    }

    /// Takes the first Task that nobody takes first. Nothing is waited for.
    async fn claim_due(
        &self,
        write: &WriteRequest,
        request: &ClaimNextRequest,
    ) -> Result<(Option<HarnTask>, Option<u64>), HarnError> {
        let claim = ClaimTaskRequest { lease_ms: request.lease_ms, agent_id: None };
        let mut tried = BTreeSet::new();
        loop {
            let now = self.field.origin().now_ms();
            let next =
                self.field.with_state(|state| next(state, &write.caller, request, &tried, now));
            let id = match next {
                Next::Due(id) if tried.len() < TRIED_MAX => id,
                Next::Due(_) => return Ok((None, None)),
                Next::Nothing { due_ms } => return Ok((None, due_ms)),
            };
            match self.take_task(write, &id, &claim).await {
                Ok(task) => return Ok((Some(task), None)),
                // Others took it first, or it is in a Session that the caller may read and not work in.
                Err(WriteError::Field(FieldError::Refused(refusal)))
                    if !matches!(refusal, Refusal::InsufficientAuthority { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            tried.insert(id);
        }
    }

    pub(crate) async fn take_task(
        &self,
        write: &WriteRequest,
        id: &str,
        request: &ClaimTaskRequest,
    ) -> Result<HarnTask, WriteError> {
        let view = self.view_task(&write.caller, id)?;
        let act = HarnAct::ClaimTask { task: id.to_owned(), lease_ms: request.lease_ms };
        let command = HarnCommand { act: Some(act), ..HarnCommand::default() };
        self.write_on(write, &view, "claim", command).await?;
        Ok(self.task(&write.caller, id).await?)
    }
}

fn next(
    state: &State,
    caller: &Caller,
    request: &ClaimNextRequest,
    tried: &BTreeSet<String>,
    now_ms: u64,
) -> Next {
    let places: Box<dyn Iterator<Item = EventAddress>> = match &request.queue {
        Some(queue) => Box::new(state.work.open_in(queue)),
        None => Box::new(state.tasks.open()),
    };
    let session = request.filter.as_ref().and_then(|filter| filter.session_id.as_deref());
    let reader = caller.reader_in(session);
    let open = places.filter_map(|place| state.tasks.made_at(place));
    let wanted = open.filter(|(id, entry)| {
        !tried.contains(*id)
            && is_wanted(state, request, id, entry)
            && reader_reaches(state, &reader, entry.session.as_deref())
    });
    let mut soonest: Option<u64> = None;
    for (id, _) in wanted {
        let due_ms = state.work.get(id).map_or(0, |entry| entry.due_ms);
        if due_ms <= now_ms {
            return Next::Due(id.to_owned());
        }
        soonest = Some(soonest.map_or(due_ms, |before| before.min(due_ms)));
    }
    Next::Nothing { due_ms: soonest }
}

fn is_wanted(state: &State, request: &ClaimNextRequest, id: &str, entry: &TaskEntry) -> bool {
    // A replay is for whoever started it, unless it names the queue that is asked for.
    if request.queue.is_none() && is_replay(state, id) {
        return false;
    }
    let document = state.documents.get(DocumentKind::Task, id);
    let persona = || document.and_then(|it| it.owner.persona.as_deref());
    if request.persona_id.is_some() && persona() != request.persona_id.as_deref() {
        return false;
    }
    let waits = |id: &String| {
        state.tasks.get(id).is_none_or(|needed| needed.status != TaskStatus::Completed)
    };
    let filter = request.filter.as_ref();
    filter.is_none_or(|filter| passes(state, filter, id, entry))
        && !entry.depends_on.iter().any(waits)
}

fn passes(state: &State, filter: &ClaimFilter, id: &str, entry: &TaskEntry) -> bool {
    let ClaimFilter { session_id, workspace_id, parent_task_id, created_by } = filter;
    let session = entry.session.as_deref().unwrap_or(SESSION_DEFAULT);
    session_id.as_ref().is_none_or(|asked| asked == session)
        && created_by.as_ref().is_none_or(|asked| *asked == entry.created_by)
        && parent_task_id.as_ref().is_none_or(|asked| state.work.is_part_of(id, asked))
        && workspace_id.as_ref().is_none_or(|asked| {
            TaskView::any(state, id).is_some_and(|view| view.workspace == *asked)
        })
}
