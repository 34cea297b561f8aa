//! Applies what happened to sessions, tasks and handoffs to the state. As `apply`, of which it is a
//! part: headers alone, no clock, nothing drawn.

use std::collections::BTreeMap;

use quipu_log::Header;
use quipu_wire::akashik::{AgentStatus, HandoffStatus, SessionStatus, TaskStatus};

use crate::{
    apply::documents::has_receipt,
    event::{
        Event,
        coordination::{HandoffChange, SessionChange, TaskCause, TaskChange},
    },
    state::{HandoffEntry, SessionEntry, State, TaskEntry},
};

/// A session was opened, joined, left, moved or given other rules.
pub fn session_changed(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    id: &str,
    change: &SessionChange,
) -> Result<(), String> {
    if let SessionChange::Created { policy, copy_of } = change {
        let name = state.names.intern(id);
        if let Some(original) = copy_of {
            let original = state.names.intern(original);
            state.copies.copied(name, original);
        }
        let entry = SessionEntry {
            name,
            creator: header.actor.clone(),
            status: SessionStatus::Active,
            members: std::iter::once(header.actor.clone()).collect(),
            left_as: BTreeMap::new(),
            policy: policy.clone(),
            position: header.position,
            event: index,
            epoch_created: header.epoch,
            epoch_ended: None,
            changes: vec![header.position],
            created_ms: header.time_ms,
            updated_ms: header.time_ms,
        };
        state.sessions.insert(id, entry);
        return Ok(());
    }
    let session = state.sessions.get_mut(id).ok_or_else(|| format!("no session {id}"))?;
    match change {
        SessionChange::Created { .. } => {}
        SessionChange::Joined { agent } => {
            session.members.insert(agent.clone());
            session.left_as.remove(agent);
        }
        SessionChange::Left { agent } => {
            session.members.remove(agent);
            if let Some(agent_entry) = state.agents.get(agent) {
                session.left_as.insert(agent.clone(), agent_entry.role.clone());
            }
        }
        SessionChange::Moved { to, .. } => {
            session.status = *to;
            session.epoch_ended = (*to == SessionStatus::Ended).then_some(header.epoch);
        }
        SessionChange::PolicySet { policy } => session.policy = policy.clone(),
    }
    session.changes.push(header.position);
    session.updated_ms = header.time_ms;
    Ok(())
}

pub fn task_changed(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    id: &str,
    change: &TaskChange,
) -> Result<(), String> {
    let entry = match change {
        TaskChange::Created { assignee, depends_on, priority, lease, .. } => TaskEntry {
            session: header.session.clone(),
            status: if assignee.is_some() { TaskStatus::Assigned } else { TaskStatus::Pending },
            created_by: header.actor.clone(),
            assigned_to: assignee.clone(),
            depends_on: depends_on.clone(),
            priority: *priority,
            needs_reassignment: false,
            results: Vec::new(),
            lease: *lease,
            position: header.position,
            event: index,
            reason: None,
            epoch_created: header.epoch,
            epoch_updated: header.epoch,
            changes: vec![header.position],
            created_ms: header.time_ms,
            started_ms: None,
            updated_ms: header.time_ms,
            awaits_auth: false,
        },
        TaskChange::Moved { cause, to, assignee, needs_reassignment, results, lease, .. } => {
            let mut before = state.tasks.get(id).ok_or_else(|| format!("no task {id}"))?.clone();
            before.changes.push(header.position);
            let explained = matches!(to, TaskStatus::Blocked | TaskStatus::Failed);
            let reason = if explained && before.status == *to {
                before.reason
            } else {
                explained.then_some((header.position, index))
            };
            TaskEntry {
                status: *to,
                assigned_to: assignee.clone(),
                needs_reassignment: *needs_reassignment,
                results: results.clone(),
                lease: *lease,
                reason,
                epoch_updated: header.epoch,
                started_ms: before
                    .started_ms
                    .or_else(|| (*to == TaskStatus::InProgress).then_some(header.time_ms)),
                updated_ms: header.time_ms,
                awaits_auth: *to == TaskStatus::Blocked
                    && (*cause == TaskCause::AwaitAuth || before.awaits_auth),
                ..before
            }
        }
    };
    if let TaskChange::Moved { from, to, .. } = change
        && from != to
        && has_ended(*to)
        && !has_receipt(header, id)
    {
        state.endings.push(id, header.position);
    }
    match change {
        TaskChange::Created { terms: Some(terms), .. } => state.work.created(id, terms),
        TaskChange::Created { terms: None, .. } => {}
        TaskChange::Moved { cause, due_ms, .. } => state.work.moved(id, *cause, *due_ms),
    }
    state.work.stands(id, &entry);
    state.tasks.put(id, entry);
    Ok(())
}

const fn has_ended(status: TaskStatus) -> bool {
    match status {
        TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled => true,
        TaskStatus::Pending
        | TaskStatus::Assigned
        | TaskStatus::InProgress
        | TaskStatus::Blocked => false,
    }
}

pub fn handoff_changed(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    id: &str,
    change: &HandoffChange,
) -> Result<(), String> {
    let entry = match change {
        HandoffChange::Offered { task, to, units, questions, conflicts } => HandoffEntry {
            session: header.session.clone(),
            task: task.clone(),
            from: header.actor.clone(),
            to: to.clone(),
            status: HandoffStatus::Offered,
            units: units.clone(),
            questions: questions.clone(),
            conflicts: conflicts.clone(),
            position: header.position,
            event: index,
            answer: None,
            epoch_created: header.epoch,
            epoch_updated: header.epoch,
            changes: vec![header.position],
        },
        HandoffChange::Moved { to, .. } => {
            let before = state.handoffs.get(id).ok_or_else(|| format!("no handoff {id}"))?;
            let mut before = before.clone();
            before.changes.push(header.position);
            HandoffEntry {
                status: *to,
                answer: Some((header.position, index)),
                epoch_updated: header.epoch,
                ..before
            }
        }
    };
    state.handoffs.put(id, entry);
    Ok(())
}

pub(super) fn agent_status_changed(
    state: &mut State,
    agent: &str,
    to: AgentStatus,
    task: Option<&str>,
) -> Result<(), String> {
    let entry = state.agents.get_mut(agent).ok_or_else(|| format!("no agent {agent}"))?;
    entry.status = to;
    entry.current_task = task.map(str::to_owned);
    Ok(())
}
