//! What HANDOFF answers, and whether a message that is sent again asks for the same.

use std::collections::HashSet;

use quipu_log::{Commit, Header};
use quipu_wire::akashik::{Handoff, HandoffAction, HandoffResponse, HandoffStatus};

use super::{
    AUTHORITY_READ, HandoffCommand,
    rule::{next_status, takes_part},
};
use crate::{
    event::{Event, coordination::HandoffChange},
    limits::LIST_RETURNED_MAX,
    message::Message,
    outline::HandoffOutline,
    rules::{Refusal, admit, same_text},
    state::State,
    visibility::authority_in,
};

pub(in crate::rules) fn is_same(
    command: &HandoffCommand,
    header: &Header<Event>,
    commit: &Commit,
) -> bool {
    let payload = &command.payload;
    let Some(Event::HandoffChanged { handoff, change }) =
        header.events.first().map(|sealed| &sealed.event)
    else {
        return false;
    };
    let same = match change {
        HandoffChange::Offered { task, to, units, conflicts, .. } => {
            let (units, conflicts) = (texts(units), texts(conflicts));
            payload.action == HandoffAction::Offer
                && payload.task_id.as_ref() == Some(task)
                && payload.to_agent.as_ref() == Some(to)
                && payload.context.memory_unit_ids.iter().all(|id| units.contains(id))
                && payload.context.conflict_ids.iter().all(|id| conflicts.contains(id))
        }
        HandoffChange::Moved { to, .. } => {
            *handoff == command.id
                && next_status(HandoffStatus::Offered, payload.action) == Some(*to)
        }
    };
    same && same_text(command.body.as_ref(), commit)
}

fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

#[must_use]
pub fn subject(events: &[quipu_log::SealedEvent<Event>]) -> Option<&str> {
    events.iter().find_map(|sealed| {
        let Event::HandoffChanged { handoff, .. } = &sealed.event else { return None };
        Some(handoff.as_str())
    })
}

/// What `list` answers with: the handoffs that the sender has a part in, newest first.
pub fn read(state: &State, message: &Message) -> Result<Vec<HandoffOutline>, Refusal> {
    let sender = admit(state, &message.agent, message.authority, AUTHORITY_READ)?;
    let authority = sender.authority.min(message.authority);
    let agent = message.agent.as_str();
    Ok(state
        .handoffs
        .iter()
        .rev()
        .filter(|(_, handoff)| {
            let own = authority_in(state, agent, authority, handoff.session.as_deref());
            takes_part(state, handoff, message.speaker(), own)
        })
        .take(LIST_RETURNED_MAX)
        .map(|(id, handoff)| HandoffOutline::of(state, id, handoff))
        .collect())
}

/// The handoffs of which the sender may know what was said: those that `list` would show it.
#[must_use]
pub fn readable(state: &State, message: &Message) -> HashSet<String> {
    let Ok(sender) = admit(state, &message.agent, message.authority, AUTHORITY_READ) else {
        return HashSet::new();
    };
    let authority = sender.authority.min(message.authority);
    let handoffs = state.handoffs.iter().filter(|(_, handoff)| {
        let own = authority_in(state, &message.agent, authority, handoff.session.as_deref());
        takes_part(state, handoff, message.speaker(), own)
    });
    handoffs.map(|(id, _)| id.to_owned()).collect()
}

/// The answer to all but `list`.
#[must_use]
pub fn respond(handoff: Option<Handoff>) -> HandoffResponse {
    let status = handoff.as_ref().map_or("ok", |handoff| handoff.status.as_str()).to_owned();
    HandoffResponse { status, handoff, handoffs: None, warnings: Vec::new() }
}

/// The answer to `list`.
#[must_use]
pub fn respond_list(handoffs: Vec<Handoff>) -> HandoffResponse {
    let status = "ok".to_owned();
    HandoffResponse { status, handoff: None, handoffs: Some(handoffs), warnings: Vec::new() }
}
