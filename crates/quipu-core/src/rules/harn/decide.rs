//! The rule of a write: who may, what it moves, what it puts, what it notes, and the key that it answers.

use quipu_log::{DraftEvent, SealedEvent};
use quipu_wire::akashik::TaskStatus;

use super::{
    act::{self, HarnAct},
    command::{DocumentDraft, Expect, HarnCommand, NoteDraft},
    error::Error,
};
use crate::{
    event::{
        Event,
        documents::{DocumentChange, DocumentKind},
    },
    message::{Message, RoleGrant},
    rules::Decision,
    rules::Refusal,
    state::{DocumentEntry, State, is_final},
    visibility,
};

pub const AUTHORITY_WRITE: u8 = 4;
/// The name under which the Field itself works on tasks.
pub const FIELD_AGENT: &str = "system";

/// The role of an agent that only ever spoke this protocol.
const ROLE: &str = "actor";

/// The rule. The time is the command's, by which leases are counted.
pub fn decide(
    state: &State,
    message: &Message,
    time_ms: u64,
    command: &HarnCommand,
) -> Result<Decision, Refusal> {
    let mut events = Vec::new();
    let authority = admit(state, message, &command.roles, &mut events)?;
    let made = command.act.as_ref().map(|act| act.made());
    let made = made.unwrap_or_default();
    let entered = command.act.as_ref().and_then(|act| act.enters(message));
    let mut moves = match &command.act {
        Some(act) => act::decide(state, message, authority, time_ms, act)?,
        None => Vec::new(),
    };
    // What ends a task comes last: nothing is told of it afterwards.
    let ends = command.act.as_ref().is_some_and(HarnAct::is_ending);
    if !ends {
        events.append(&mut moves);
    }
    for document in &command.documents {
        if command.read_at.is_some_and(|read_at| has_changed(state, document, read_at)) {
            return Err(Error::Changed.into());
        }
        if repeats_purged(state, document, command.read_at) {
            return Err(Error::Changed.into());
        }
        events.push(put(state, message, entered, document)?);
    }
    for note in &command.notes {
        events.push(self::note(state, made, note)?);
    }
    events.append(&mut moves);
    // Also where nothing else changes: the key has been used for this request.
    if let Some(mark) = &command.mark {
        let event = Event::IdempotencyKept { mark: mark.clone() };
        events.push(DraftEvent { event, body: None });
    }
    Ok(events)
}

/// Lets the actor in: who speaks this protocol need not have spoken the other one before.
fn admit(
    state: &State,
    message: &Message,
    roles: &RoleGrant,
    events: &mut Decision,
) -> Result<u8, Refusal> {
    let agent = message.agent.clone();
    if agent == FIELD_AGENT {
        return Ok(message.authority);
    }
    let known = state.agents.live(&agent);
    let authority = known.map_or(message.authority, |entry| entry.authority.min(message.authority));
    if authority < AUTHORITY_WRITE {
        let needed = AUTHORITY_WRITE;
        return Err(Refusal::InsufficientAuthority { agent, authority, needed });
    }
    if known.is_none() {
        let role = roles.first().unwrap_or(ROLE);
        let event = Event::AgentRegistered {
            agent,
            role: role.to_owned(),
            interests: Vec::new(),
            authority,
            claimed: !roles.gives(role),
        };
        events.push(DraftEvent { event, body: None });
    }
    Ok(authority)
}

/// Whether a document, or the chain that it joins, is not what it was at a position.
fn has_changed(state: &State, draft: &DocumentDraft, read_at: u64) -> bool {
    let later = |entry: &DocumentEntry| entry.at.0 > read_at;
    let taken = state.documents.taken(draft.kind, &draft.id);
    let session = draft.owner.session.as_deref().filter(|_| draft.kind == DocumentKind::Receipt);
    let last = session
        .and_then(|session| state.documents.of_session(DocumentKind::Receipt, session).next_back());
    taken.is_some_and(later) || last.is_some_and(|(_, entry)| later(entry))
}

/// Whether a document would bring back words that were purged after they were read. What was read after the purge
/// has none of them, also where its document still names the unit.
fn repeats_purged(state: &State, draft: &DocumentDraft, read_at: Option<u64>) -> bool {
    if draft.body.is_none() || read_at.is_some_and(|read_at| state.last_purge <= read_at) {
        return false;
    }
    // Who does not say when it read may put over a document what has nothing to do with what that said.
    let known = read_at.and_then(|_| state.documents.taken(draft.kind, &draft.id));
    let known = known.map_or(&[][..], |entry| &entry.quotes);
    draft.quotes.iter().chain(known).any(|unit| state.is_purged(*unit))
}

fn put(
    state: &State,
    message: &Message,
    entered: Option<&str>,
    draft: &DocumentDraft,
) -> Result<DraftEvent<Event>, Refusal> {
    let DocumentDraft { kind, id, owner, expect, body, quotes } = draft;
    let session = owner.session.as_deref().filter(|session| Some(*session) != entered);
    if message.agent != FIELD_AGENT {
        visibility::may_write(state, message.speaker(), session)?;
    }
    let (taken, there) = (state.documents.taken(*kind, id), state.documents.get(*kind, id));
    let change = match (expect, taken, there) {
        (Expect::New | Expect::Any, None, _) => DocumentChange::Created,
        (Expect::Any | Expect::Known, _, Some(_)) => DocumentChange::Updated,
        (Expect::Removal, _, Some(_)) => DocumentChange::Removed,
        // Bytes that were erased may come again, and so may what was under the path of a file.
        (Expect::Any, Some(_), None)
            if matches!(kind, DocumentKind::Content | DocumentKind::File) =>
        {
            DocumentChange::Created
        }
        (Expect::New | Expect::Any, Some(_), _) => {
            return Err(Error::IdTaken { kind: *kind, id: id.clone() }.into());
        }
        (Expect::Known | Expect::Removal, _, None) => {
            return Err(Error::NotFound { kind: *kind, id: id.clone() }.into());
        }
    };
    let event = Event::DocumentChanged {
        document: *kind,
        id: id.clone(),
        owner: owner.clone(),
        change,
        quotes: quotes.clone(),
    };
    Ok(DraftEvent { event, body: body.clone() })
}

fn note(
    state: &State,
    made: Option<&str>,
    draft: &NoteDraft,
) -> Result<DraftEvent<Event>, Refusal> {
    let NoteDraft { task, note, body } = draft;
    match state.tasks.get(task) {
        // What has ended is told of no more. In the commit that ends it, it has not yet.
        Some(entry) if is_final(entry.status) || entry.status == TaskStatus::Failed => {
            let (task, status) = (task.clone(), entry.status);
            return Err(Error::IllegalMove { task, status, wanted: "told of" }.into());
        }
        None if made != Some(task.as_str()) => {
            return Err(Error::NotFound { kind: DocumentKind::Task, id: task.clone() }.into());
        }
        Some(_) | None => {}
    }
    let stream = state.streams.task(task);
    if let Some(dependency) = &note.dependency
        && stream.is_some_and(|stream| stream.dependencies.contains_key(&dependency.key))
    {
        let key = dependency.key.clone();
        return Err(Error::KeyTaken { task: task.clone(), key }.into());
    }
    if let Some(checkpoint) = &note.checkpoint
        && stream.is_some_and(|stream| stream.checkpoints.contains_key(checkpoint))
    {
        return Err(Error::KeyTaken { task: task.clone(), key: checkpoint.clone() }.into());
    }
    let event = Event::TaskNoted { task: task.clone(), note: note.clone() };
    Ok(DraftEvent { event, body: body.clone() })
}

/// Whether the commit answered the same request: its key had the same body.
pub(in crate::rules) fn is_same(command: &HarnCommand, events: &[SealedEvent<Event>]) -> bool {
    events.iter().any(|sealed| {
        let Event::IdempotencyKept { mark } = &sealed.event else { return false };
        let asked = command.mark.as_ref();
        asked.is_some_and(|asked| asked.scope == mark.scope && asked.digest == mark.digest)
    })
}
