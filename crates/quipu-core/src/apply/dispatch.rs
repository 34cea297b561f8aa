//! Applies what happened to the state. Looks at headers alone: a body may be gone, and the state is
//! the same. Reads no clock, draws nothing, and never fails on a log that `decide` wrote.

use quipu_log::Header;
use quipu_wire::akashik::{AgentStatus, Mode, RestoredFrom, UnitStatus};

use crate::{
    apply::{
        conflicts::{detected, settle},
        coordination::{agent_status_changed, handoff_changed, session_changed, task_changed},
        documents::{document_changed, note_streams, task_noted},
        texts::note_text,
    },
    event::{ClockReason, Event, Link},
    ids::{TraceId, UnitId},
    state::{
        AgentEntry, HintEntry, LinkTarget, State, SubscriptionEntry, UnitDetails, UnitFlags,
        UnitLink,
    },
};

/// An event that cannot follow from the state before it: the log was not written by these rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("position {position}: {what}")]
pub struct Inconsistent {
    pub position: u64,
    pub what: String,
}

pub fn apply(state: &mut State, header: &Header<Event>) -> Result<(), Inconsistent> {
    let wrong = |what: String| Inconsistent { position: header.position, what };
    if header.position != state.position + 1 || header.epoch <= state.epoch {
        return Err(wrong(format!(
            "follows position {} epoch {}, but the state is at position {} epoch {}",
            header.position, header.epoch, state.position, state.epoch
        )));
    }
    state.closed = false;
    for (index, sealed) in (0u32..).zip(&header.events) {
        apply_event(state, header, index, &sealed.event).map_err(wrong)?;
        note_streams(state, header, &sealed.event);
        if sealed.body.is_some() {
            note_text(state, header, index, &sealed.event);
        }
    }
    if let Some(request) = &header.request {
        state.messages.insert(&header.actor, request, header.position);
    }
    state.position = header.position;
    state.epoch = header.epoch;
    Ok(())
}

fn apply_event(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    event: &Event,
) -> Result<(), String> {
    match event {
        Event::AgentRegistered { agent, .. } => agent_registered(state, agent, event),
        Event::AgentDeregistered { agent, .. } => agent_deregistered(state, agent)?,
        Event::AgentStatusChanged { agent, to, task } => {
            agent_status_changed(state, agent, *to, task.as_deref())?;
        }
        Event::SessionChanged { session, change } => {
            session_changed(state, header, index, session, change)?;
        }
        Event::TaskChanged { task, change } => task_changed(state, header, index, task, change)?,
        Event::HandoffChanged { handoff, change } => {
            handoff_changed(state, header, index, handoff, change)?;
        }
        Event::UnitRecorded { .. } => unit_recorded(state, header, index, event)?,
        Event::AttuneTraced { .. } => attune_traced(state, header, index, event)?,
        Event::UnitStatusChanged { unit, to, .. } => {
            let ordinal = find(state, *unit)?;
            state.units.change(ordinal, |flags| flags.status = *to);
        }
        Event::ConflictDetected { .. } => detected(state, header, index, event)?,
        Event::ConflictResolving { .. }
        | Event::ConflictBallotCast { .. }
        | Event::ConflictResolved { .. }
        | Event::ConflictEscalated { .. } => settle(state, header, index, event)?,
        Event::UnitsArchived { units, .. } => {
            for unit in units {
                let ordinal = find(state, *unit)?;
                state.units.change(ordinal, |flags| flags.archived = true);
            }
        }
        Event::UnitsPurged { units, hints, .. } => {
            purged(state, units, hints)?;
            state.last_purge = header.position;
        }
        // The status change beside it says the rest.
        Event::UnitRetracted { unit, overruled, .. } => {
            state.backing.withdrawn(find(state, *unit)?, *overruled);
        }
        Event::UnitRestored { unit, from, .. } => restored(state, *unit, *from)?,
        Event::LeastAuthoritySet { rows } => {
            for row in rows {
                state.least_authority.set(*row);
            }
        }
        Event::SubscriptionCreated { .. } => subscription_created(state, header, event)?,
        Event::SubscriptionRemoved { subscription, .. } => {
            state.subscriptions.remove(*subscription)
        }
        Event::DocumentChanged { document, id, owner, change, quotes } => {
            document_changed(state, header, index, (*document, id), owner, *change)?;
            state.documents.quote(*document, id, quotes);
        }
        Event::TaskNoted { task, note } => task_noted(state, header, index, task, note)?,
        Event::IdempotencyKept { mark } => {
            state.idempotency.keep(mark, header.position, header.time_ms);
        }
        Event::ClockAdvanced { reason } => state.closed = *reason == ClockReason::Closed,
    }
    Ok(())
}

pub(crate) fn find(state: &State, unit: UnitId) -> Result<u32, String> {
    state.units.find(unit).ok_or_else(|| format!("no unit {unit}"))
}

fn agent_registered(state: &mut State, id: &str, event: &Event) {
    let Event::AgentRegistered { role, interests, authority, claimed, .. } = event else { return };
    let name = state.names.intern(id);
    let units = state.agents.get(id).map_or(0, |agent| agent.units);
    let entry = AgentEntry {
        name,
        role: role.clone(),
        claimed: *claimed,
        interests: interests.clone(),
        authority: *authority,
        status: AgentStatus::Idle,
        units,
        current_task: None,
    };
    state.agents.insert(id, entry);
}

fn agent_deregistered(state: &mut State, agent: &str) -> Result<(), String> {
    let entry = state.agents.get_mut(agent).ok_or_else(|| format!("no agent {agent}"))?;
    entry.status = AgentStatus::Offline;
    entry.current_task = None;
    state.recent_traces.forget(entry.name);
    state.subscriptions.remove_all_of(agent);
    Ok(())
}

fn attune_traced(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    event: &Event,
) -> Result<(), String> {
    let Event::AttuneTraced { trace, hinted, .. } = event else {
        return Err("not a traced ATTUNE".to_owned());
    };
    let agent = state.agents.get(&header.actor).ok_or("shown to nobody known")?.name;
    let session = header.session.as_deref().map(|session| state.names.intern(session));
    state.recent_traces.traced(agent, session, *trace);
    if *hinted {
        let Header { position, epoch, .. } = *header;
        let hint = HintEntry { position, event: index, epoch, session, purged: false };
        state.hints.insert(*trace, hint);
    }
    Ok(())
}

fn restored(state: &mut State, unit: UnitId, from: RestoredFrom) -> Result<(), String> {
    let ordinal = find(state, unit)?;
    match from {
        RestoredFrom::Archived => state.units.change(ordinal, |flags| flags.archived = false),
        RestoredFrom::Retracted => state.backing.withdrawn(ordinal, false),
        RestoredFrom::Superseded => {}
    }
    Ok(())
}

fn purged(state: &mut State, units: &[UnitId], hints: &[TraceId]) -> Result<(), String> {
    for unit in units {
        let ordinal = find(state, *unit)?;
        state.units.change(ordinal, |flags| flags.purged = true);
    }
    for trace in hints {
        if !state.hints.purge(*trace) {
            return Err(format!("no hint of {trace}"));
        }
    }
    Ok(())
}

fn unit_recorded(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    event: &Event,
) -> Result<(), String> {
    let Event::UnitRecorded {
        unit,
        mode,
        memory_type,
        role,
        task,
        score,
        relations,
        session,
        authority,
        key,
        spared,
        ..
    } = event
    else {
        return Err("not a recorded unit".to_owned());
    };
    let author = state.agents.get_mut(&header.actor).ok_or("recorded by nobody known")?;
    author.units += 1;
    let author = author.name;
    let spoken = header.session.as_deref().and_then(|session| state.names.find(session));
    state.recent_traces.recorded(author, spoken);
    let status = match mode {
        Mode::Draft => UnitStatus::Draft,
        Mode::Committed => UnitStatus::Active,
    };
    let details = UnitDetails {
        id: *unit,
        position: header.position,
        event: index,
        epoch: header.epoch,
        time_ms: header.time_ms,
        role: state.names.intern(role),
        session: session
            .as_deref()
            .or(header.session.as_deref())
            .map(|session| state.names.intern(session)),
        task: task.as_deref().map(|task| state.names.intern(task)),
        score: *score,
        mode: *mode,
        links: relations.iter().map(|link| resolve(state, link)).collect(),
    };
    let flags =
        UnitFlags { author, memory_type: *memory_type, status, archived: false, purged: false };
    let ordinal = state.units.next_ordinal();
    state.units.push(flags, details);
    if let Some(authority) = authority {
        state.backing.recorded(ordinal, *authority);
    }
    if let Some(key) = key {
        let key = state.names.intern(key);
        state.unit_keys.recorded(ordinal, key);
    }
    for spared in spared {
        let target = find(state, spared.unit)?;
        state.backing.spare(target, ordinal);
    }
    state.note_replacing_unit(ordinal);
    Ok(())
}

fn subscription_created(
    state: &mut State,
    header: &Header<Event>,
    event: &Event,
) -> Result<(), String> {
    let Event::SubscriptionCreated { subscription, events, min_relevance, debounce_ms } = event
    else {
        return Err("not a subscription".to_owned());
    };
    let agent = state.agents.get(&header.actor).ok_or("subscribed by nobody known")?;
    let entry = SubscriptionEntry {
        agent: header.actor.clone(),
        role: agent.role.clone(),
        interests: agent.interests.clone(),
        events: events.clone(),
        min_relevance: *min_relevance,
        debounce_ms: *debounce_ms,
        position: header.position,
        epoch: header.epoch,
    };
    state.subscriptions.insert(*subscription, entry);
    Ok(())
}

fn resolve(state: &mut State, link: &Link) -> UnitLink {
    let known = UnitId::parse(&link.target).and_then(|id| state.units.find(id));
    let target = known
        .map_or_else(|| LinkTarget::Foreign(state.names.intern(&link.target)), LinkTarget::Unit);
    UnitLink { kind: link.kind, target }
}
