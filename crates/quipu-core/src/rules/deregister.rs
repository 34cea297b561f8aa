//! DEREGISTER (spec 3.2): an agent leaves the Field. Its units stay.

use quipu_log::{DraftEvent, SealedEvent};
use quipu_wire::akashik::{Cleanup, DeregisterPayload, DeregisterResponse, DeregisterStatus};

use super::{Refusal, admit, may_borrow, task_events};
use crate::{
    event::{Event, coordination::SessionChange},
    message::Message,
    rules::Decision,
    state::State,
};

/// The authority to leave, and to make another leave.
const AUTHORITY_OWN: u8 = 4;
const AUTHORITY_OTHER: u8 = 8;

/// The authority that a DEREGISTER needs, whoever its target is. Another is sent away by nobody weaker.
#[must_use]
pub fn authority_needed(sender: &str, payload: &DeregisterPayload) -> u8 {
    if sender == payload.agent_id { AUTHORITY_OWN } else { AUTHORITY_OTHER }
}

/// The rule. An unknown target is an answer and no error, so nothing happens then.
pub fn decide(
    state: &State,
    message: &Message,
    payload: &DeregisterPayload,
) -> Result<Decision, Refusal> {
    let least = authority_needed(&message.agent, payload);
    let Some(target) = state.agents.live(&payload.agent_id) else {
        // Whoever asks about another needs to take part; who asks to leave and is not there has left.
        if message.agent != payload.agent_id {
            admit(state, &message.agent, message.authority, AUTHORITY_OWN)?;
        }
        return Ok(Vec::new());
    };
    let itself = message.agent == payload.agent_id;
    let needed = if itself { least } else { least.max(target.authority) };
    admit(state, &message.agent, message.authority, needed)?;
    if !message.own_key {
        may_borrow(state, &message.agent, message.authority)?;
    }
    let (follows, tasks_reassigned) = task_events::agent_left(state, &payload.agent_id);
    let event = Event::AgentDeregistered {
        agent: payload.agent_id.clone(),
        units_orphaned: target.units,
        tasks_reassigned,
    };
    let mut events = vec![DraftEvent { event, body: None }];
    events.extend(follows);
    events.extend(sessions_left(state, &payload.agent_id));
    Ok(events)
}

/// Who leaves the Field leaves its sessions: whoever comes back under that name, in whatever role, was
/// not let into them.
fn sessions_left(state: &State, agent: &str) -> Decision {
    let joined = state.sessions.iter().filter(|(_, session)| session.members.contains(agent));
    let left = |id: &str| Event::SessionChanged {
        session: id.to_owned(),
        change: SessionChange::Left { agent: agent.to_owned() },
    };
    joined.map(|(id, _)| DraftEvent { event: left(id), body: None }).collect()
}

#[must_use]
pub fn respond(events: &[SealedEvent<Event>]) -> DeregisterResponse {
    let left = events.iter().find_map(|sealed| {
        let Event::AgentDeregistered { units_orphaned, tasks_reassigned, .. } = &sealed.event
        else {
            return None;
        };
        Some((*units_orphaned, *tasks_reassigned))
    });
    let status = if left.is_some() { DeregisterStatus::Ok } else { DeregisterStatus::NotFound };
    let (units_orphaned, tasks_reassigned) = left.unwrap_or_default();
    let cleanup = Cleanup { units_orphaned, tasks_reassigned };
    DeregisterResponse { status, cleanup, warnings: Vec::new() }
}

pub(super) fn is_same(payload: &DeregisterPayload, events: &[SealedEvent<Event>]) -> bool {
    events.iter().any(|sealed| {
        matches!(&sealed.event, Event::AgentDeregistered { agent, .. } if *agent == payload.agent_id)
    })
}
