//! The events by which tasks move and agents follow, for every operation that moves tasks: COORDINATE,
//! HANDOFF, SESSION when it ends, DEREGISTER, and leases that run out.

use std::collections::BTreeMap;

use quipu_log::{Body, DraftEvent};
use quipu_wire::akashik::{AgentStatus, HandoffStatus, TaskStatus};

use crate::{
    event::{
        Event,
        coordination::{HandoffChange, Lease, TaskCause, TaskChange},
    },
    ids::UnitId,
    rules::Decision,
    state::{HandoffEntry, State, TaskEntry, is_held},
};

/// Moves to be made in one commit, and the agents that they concern.
#[derive(Debug, Default)]
pub(super) struct Moves {
    events: Decision,
    status: BTreeMap<String, (TaskStatus, Option<String>)>,
    agents: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Destination {
    pub(super) cause: TaskCause,
    pub(super) to: TaskStatus,
    pub(super) assignee: Option<String>,
    pub(super) needs_reassignment: bool,
    pub(super) results: Vec<UnitId>,
    pub(super) lease: Option<Lease>,
    pub(super) due_ms: Option<u64>,
    pub(super) body: Option<Body>,
}

impl Destination {
    /// Back to the pool, because nobody works on it any more.
    pub(super) const fn lost(cause: TaskCause) -> Self {
        Self {
            cause,
            to: TaskStatus::Pending,
            assignee: None,
            needs_reassignment: true,
            results: Vec::new(),
            lease: None,
            due_ms: None,
            body: None,
        }
    }

    /// Called off. Who had it stays on record.
    pub(super) fn cancelled(cause: TaskCause, task: &TaskEntry) -> Self {
        Self {
            to: TaskStatus::Cancelled,
            assignee: task.assigned_to.clone(),
            needs_reassignment: false,
            ..Self::lost(cause)
        }
    }
}

impl Moves {
    pub(super) fn task(&mut self, id: &str, task: &TaskEntry, destination: Destination) {
        let Destination { cause, to, assignee, needs_reassignment, results, lease, due_ms, body } =
            destination;
        self.agents.extend(task.assigned_to.clone());
        self.agents.extend(assignee.clone());
        self.status.insert(id.to_owned(), (to, assignee.clone()));
        let from = task.status;
        let change = TaskChange::Moved {
            cause,
            from,
            to,
            assignee,
            needs_reassignment,
            results,
            lease,
            due_ms,
        };
        let event = Event::TaskChanged { task: id.to_owned(), change };
        self.events.push(DraftEvent { event, body });
    }

    pub(super) fn handoff(
        &mut self,
        id: &str,
        handoff: &HandoffEntry,
        to: HandoffStatus,
        body: Option<Body>,
    ) {
        let change = HandoffChange::Moved { task: handoff.task.clone(), to };
        let event = Event::HandoffChanged { handoff: id.to_owned(), change };
        self.events.push(DraftEvent { event, body });
    }

    /// All events in order: the moves, and then what the agents do now.
    pub(super) fn finish(mut self, state: &State) -> Decision {
        self.agents.sort();
        self.agents.dedup();
        for agent in &self.agents {
            self.events
                .extend(self.follow(state, agent).map(|event| DraftEvent { event, body: None }));
        }
        self.events
    }

    /// What an agent does after the moves: it works on what it just began, else on what it worked
    /// on, else on another task that it began; it waits where that one is blocked.
    fn follow(&self, state: &State, agent: &str) -> Option<Event> {
        let entry = state.agents.live(agent)?;
        let began = |id: &str, before: TaskStatus| -> Option<TaskStatus> {
            let now = match self.status.get(id) {
                Some((_, holder)) if holder.as_deref() != Some(agent) => return None,
                Some((status, _)) => *status,
                None => before,
            };
            matches!(now, TaskStatus::InProgress | TaskStatus::Blocked).then_some(now)
        };
        let held: BTreeMap<&str, TaskStatus> = state
            .tasks
            .held_by(agent)
            .filter_map(|(id, task)| began(id, task.status).map(|status| (id, status)))
            .collect();
        let just_begun = self.status.iter().find_map(|(id, (status, _))| {
            let begun = *status == TaskStatus::InProgress && held.contains_key(id.as_str());
            begun.then_some(id.as_str())
        });
        let current = just_begun
            .or_else(|| entry.current_task.as_deref().filter(|id| held.contains_key(id)))
            .or_else(|| held.keys().next().copied());
        let to = match current.and_then(|id| held.get(id)) {
            Some(TaskStatus::Blocked) => AgentStatus::Waiting,
            Some(_) => AgentStatus::Working,
            None => AgentStatus::Idle,
        };
        let unchanged = entry.status == to && entry.current_task.as_deref() == current;
        (!unchanged).then(|| Event::AgentStatusChanged {
            agent: agent.to_owned(),
            to,
            task: current.map(str::to_owned),
        })
    }
}

/// What follows when an agent leaves: its tasks go back to the pool, and the offers that it made or
/// was made run out. Also answers how many tasks those are.
pub(super) fn agent_left(state: &State, agent: &str) -> (Decision, u64) {
    let mut moves = Moves::default();
    let mut tasks = 0;
    for (id, task) in state.tasks.held_by(agent) {
        moves.task(id, task, Destination::lost(TaskCause::OwnerLeft));
        tasks += 1;
    }
    for (id, handoff) in state.handoffs.open() {
        if handoff.from == agent || handoff.to == agent {
            moves.handoff(id, handoff, HandoffStatus::Expired, None);
        }
    }
    (moves.events, tasks)
}

/// What follows when a session ends: its open tasks are called off, its open offers run out.
pub(super) fn session_ended(state: &State, session: &str) -> Decision {
    let mut moves = Moves::default();
    let of_session = |owner: &Option<String>| owner.as_deref() == Some(session);
    for (id, task) in state.tasks.iter() {
        let open = task.status == TaskStatus::Pending || is_held(task.status);
        if open && of_session(&task.session) {
            moves.task(id, task, Destination::cancelled(TaskCause::SessionEnded, task));
        }
    }
    for (id, handoff) in state.handoffs.open() {
        if of_session(&handoff.session) {
            moves.handoff(id, handoff, HandoffStatus::Expired, None);
        }
    }
    moves.finish(state)
}

/// The tasks whose lease has run out go back to the pool.
pub(super) fn leases_expired(state: &State, time_ms: u64) -> Decision {
    let mut moves = Moves::default();
    for (id, task) in state.tasks.expired(time_ms) {
        let next = after_failure(state, id, task, time_ms, TaskCause::LeaseExpired);
        moves.task(id, task, next);
        expire_offers(state, id, &mut moves);
    }
    moves.finish(state)
}

/// Where a task goes whose attempt failed or lost its agent: back to the pool after its pause, or nowhere any more where
/// that was its last attempt. One that has no policy is tried without end.
pub(super) fn after_failure(
    state: &State,
    id: &str,
    task: &TaskEntry,
    time_ms: u64,
    cause: TaskCause,
) -> Destination {
    let Some((policy, failed)) = state.work.attempts(id) else { return Destination::lost(cause) };
    let failed = failed.saturating_add(1);
    if failed >= policy.max_attempts {
        return Destination {
            to: TaskStatus::Failed,
            assignee: task.assigned_to.clone(),
            needs_reassignment: false,
            ..Destination::lost(TaskCause::Exhausted)
        };
    }
    let due_ms = Some(time_ms.saturating_add(policy.pause_ms(failed)));
    Destination { due_ms, ..Destination::lost(cause) }
}

/// The offers of a task that there is nothing left to hand over of. Those of another session are of something else of that
/// name.
pub(super) fn expire_offers(state: &State, task: &str, moves: &mut Moves) {
    let session = state.tasks.get(task).map(|task| &task.session);
    let of_it = |handoff: &HandoffEntry| handoff.task == task && session == Some(&handoff.session);
    for (id, handoff) in state.handoffs.open().filter(|(_, handoff)| of_it(handoff)) {
        moves.handoff(id, handoff, HandoffStatus::Expired, None);
    }
}
