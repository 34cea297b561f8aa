//! Applies what happened to documents, and notes which commits tell of which task and session. As `apply`,
//! of which it is a part: headers alone, no clock, nothing drawn.

use quipu_log::Header;

use crate::{
    event::{
        Event,
        coordination::HandoffChange,
        documents::{DocumentChange, DocumentKind, DocumentOwner, Note},
    },
    rules::harn::FIELD_AGENT,
    state::{DocumentEntry, State},
};

pub(crate) fn document_changed(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    (kind, id): (DocumentKind, &str),
    owner: &DocumentOwner,
    change: DocumentChange,
) -> Result<(), String> {
    if change == DocumentChange::Created {
        let entry = DocumentEntry {
            id: id.to_owned(),
            owner: owner.clone(),
            created_by: header.actor.clone(),
            created_ms: header.time_ms,
            updated_ms: header.time_ms,
            at: (header.position, index),
            removed: false,
            earlier: Vec::new(),
            quotes: Vec::new(),
        };
        state.documents.push(kind, entry);
    } else {
        let entry = state.documents.get_mut(kind, id).ok_or_else(|| format!("no {kind:?} {id}"))?;
        if keeps_earlier(kind) {
            entry.earlier.push(entry.at);
        }
        entry.updated_ms = header.time_ms;
        entry.at = (header.position, index);
        entry.removed = change == DocumentChange::Removed;
        if entry.removed && kind == DocumentKind::Content {
            state.last_purge = header.position;
        }
    }
    if let Some(task) = &owner.task {
        settle_ending(state, header, kind, task, change);
    }
    Ok(())
}

/// Whether the state knows where a document's bodies of before are: of content to erase them, of a file as its versions.
const fn keeps_earlier(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::Content | DocumentKind::File)
}

/// A receipt settles an ending. Where a policy allows none, the Field's own word on the outcome does, in a
/// commit behind the one that ended the task.
fn settle_ending(
    state: &mut State,
    header: &Header<Event>,
    kind: DocumentKind,
    task: &str,
    change: DocumentChange,
) {
    // A commit that ends a task and has its receipt settles that ending, and no earlier one.
    let ends = header.events.iter().any(
        |sealed| matches!(&sealed.event, Event::TaskChanged { task: moved, .. } if moved == task),
    );
    let issued = kind == DocumentKind::Receipt && change == DocumentChange::Created;
    let told =
        kind == DocumentKind::Outcome && header.actor == FIELD_AGENT && !has_receipt(header, task);
    if !ends && (issued || told) {
        state.endings.settle(task);
    }
}

pub(crate) fn has_receipt(header: &Header<Event>, task: &str) -> bool {
    header.events.iter().any(|sealed| {
        let Event::DocumentChanged { document, owner, .. } = &sealed.event else { return false };
        *document == DocumentKind::Receipt && owner.task.as_deref() == Some(task)
    })
}

pub(crate) fn task_noted(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    task: &str,
    note: &Note,
) -> Result<(), String> {
    if state.tasks.get(task).is_none() {
        return Err(format!("no task {task}"));
    }
    let place = (header.position, index);
    let stream = state.streams.task_mut(task);
    if let Some(dependency) = &note.dependency {
        stream.dependencies.insert(dependency.key.clone(), place);
    }
    if let Some(checkpoint) = &note.checkpoint {
        stream.checkpoints.insert(checkpoint.clone(), place);
    }
    if let Some(imported) = &note.imported {
        state.streams.note_imported(&imported.event_id, place);
    }
    Ok(())
}

/// Notes that a commit tells of the task and the session that an event is about.
pub(crate) fn note_streams(state: &mut State, header: &Header<Event>, event: &Event) {
    let task = task_of(event).filter(|task| state.tasks.get(task).is_some());
    if let Some(task) = task {
        state.streams.note_task_commit(task, header.position);
    }
    let of_task = task.and_then(|task| state.tasks.get(task)?.session.clone());
    let session = of_task.or_else(|| session_of(event).map(str::to_owned));
    if let Some(session) = session {
        state.streams.note_session_commit(&session, header.position);
    }
}

/// The task that an event is about. A new kind of event that a task's stream tells of joins here.
fn task_of(event: &Event) -> Option<&str> {
    match event {
        Event::TaskChanged { task, .. }
        | Event::TaskNoted { task, .. }
        | Event::HandoffChanged {
            change: HandoffChange::Offered { task, .. } | HandoffChange::Moved { task, .. },
            ..
        } => Some(task),
        Event::UnitRecorded { task, .. } => task.as_deref(),
        Event::DocumentChanged { document: DocumentKind::Task, id, .. } => Some(id),
        Event::DocumentChanged { owner, .. } => owner.task.as_deref(),
        Event::AgentRegistered { .. }
        | Event::AgentDeregistered { .. }
        | Event::AgentStatusChanged { .. }
        | Event::SessionChanged { .. }
        | Event::AttuneTraced { .. }
        | Event::UnitStatusChanged { .. }
        | Event::ConflictDetected { .. }
        | Event::ConflictResolving { .. }
        | Event::ConflictBallotCast { .. }
        | Event::ConflictResolved { .. }
        | Event::ConflictEscalated { .. }
        | Event::UnitRetracted { .. }
        | Event::UnitRestored { .. }
        | Event::LeastAuthoritySet { .. }
        | Event::UnitsArchived { .. }
        | Event::UnitsPurged { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::IdempotencyKept { .. }
        | Event::ClockAdvanced { .. } => None,
    }
}

fn session_of(event: &Event) -> Option<&str> {
    if let Event::SessionChanged { session, .. } = event {
        return Some(session);
    }
    if let Event::DocumentChanged { document: DocumentKind::Session, id, .. } = event {
        return Some(id);
    }
    if let Event::DocumentChanged { owner, .. } = event {
        return owner.session.as_deref();
    }
    None
}
