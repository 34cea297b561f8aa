//! HANDOFF (our contract, `docs/protocol/handoff.md`): a task goes to another agent with everything
//! that it needs to know. The Field completes the package; who accepts has the task.

use std::collections::BTreeSet;

use quipu_log::{Body, Commit, DraftEvent, Header};
use quipu_wire::{
    ErrorCode,
    akashik::{
        Handoff, HandoffAction, HandoffPayload, HandoffResponse, HandoffStatus, MemoryType,
        RelationType, TaskStatus, UnitStatus,
    },
    json::canon::CanonError,
};

use super::{
    Refusal, admit, same_text,
    task_events::{Destination, Moves},
};
use crate::{
    event::{
        Event,
        coordination::{HandoffBody, HandoffChange, ReasonBody, TaskCause},
    },
    ids::{ConflictId, HandoffId, UnitId},
    limits::{HANDOFF_UNITS_MAX, LIST_RETURNED_MAX},
    message::Message,
    origin::Origin,
    outline::HandoffOutline,
    rules::Decision,
    state::{HandoffEntry, LinkTarget, State, TaskEntry, is_held},
    visibility::{self, Sight, Speaker, authority_in},
};

/// The authority to read of handoffs, to hand over what is one's own, and what is another's.
pub const AUTHORITY_READ: u8 = 2;
const AUTHORITY_OWN: u8 = 4;
const AUTHORITY_OTHERS: u8 = 8;

/// Why a handoff cannot be made or answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is none, or none that the sender has a part in.
    #[error("payload.handoff_id: no handoff {handoff}")]
    NotFound {
        /// What was named.
        handoff: String,
    },
    /// What belongs into the package is not there.
    #[error("payload.context.{list}: nothing has the id {id}")]
    ContextNotFound {
        /// Where it was named.
        list: &'static str,
        /// What was named.
        id: String,
    },
    /// The task is one that the sender may not know of.
    #[error("payload.task_id: no task {task}")]
    TaskNotFound {
        /// What was named.
        task: String,
    },
    /// There is nobody of that name.
    #[error("payload.to_agent: {agent} is not a registered agent")]
    NoSuchAgent {
        /// Who.
        agent: String,
    },
    /// A task cannot be handed to who has it, or to who cannot see it.
    #[error("payload.to_agent: {agent} cannot take over: {why}")]
    WrongAgent {
        /// Who.
        agent: String,
        /// Why not.
        why: &'static str,
    },
    /// The task is not to be had.
    #[error("payload.task_id: {task} cannot be handed over: {why}")]
    WrongTask {
        /// Which task.
        task: String,
        /// Why not.
        why: &'static str,
    },
    /// It was answered already.
    #[error("payload.action: cannot {action} {handoff}, which is {status}")]
    IllegalMove {
        /// Which handoff.
        handoff: String,
        /// What was asked for.
        action: HandoffAction,
        /// Where it stands.
        status: HandoffStatus,
    },
}

impl Error {
    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. }
            | Self::ContextNotFound { .. }
            | Self::TaskNotFound { .. }
            | Self::NoSuchAgent { .. } => ErrorCode::UnitNotFound,
            Self::WrongAgent { .. } | Self::WrongTask { .. } | Self::IllegalMove { .. } => {
                ErrorCode::InvalidTransition
            }
        }
    }
}

/// A HANDOFF with everything drawn for it.
#[derive(Debug, Clone)]
pub struct HandoffCommand {
    payload: HandoffPayload,
    id: String,
    body: Option<Body>,
}

impl HandoffCommand {
    /// Draws the new handoff's id and seals what is said of it.
    pub fn prepare(mut payload: HandoffPayload, origin: &dyn Origin) -> Result<Self, CanonError> {
        let reason = payload.reason.take();
        let offers = payload.action == HandoffAction::Offer;
        let named = payload.handoff_id.clone().filter(|_| !offers);
        let id = named.unwrap_or_else(|| HandoffId::from_bits(origin.id_bits()).to_string());
        let body = if offers {
            let context = &mut payload.context;
            let body = HandoffBody {
                reason: reason.unwrap_or_default(),
                summary: context.summary.take(),
                open_questions: std::mem::take(&mut context.open_questions),
                decisions: std::mem::take(&mut context.decisions),
                assumptions: std::mem::take(&mut context.assumptions),
                next_steps: std::mem::take(&mut context.next_steps),
            };
            Some(Body::new(origin.salt(), &body)?)
        } else {
            reason.map(|reason| Body::new(origin.salt(), &ReasonBody { reason })).transpose()?
        };
        Ok(Self { payload, id, body })
    }
}

/// The state machine: where an action takes a handoff, or `None` where it is illegal.
#[must_use]
pub const fn next_status(status: HandoffStatus, action: HandoffAction) -> Option<HandoffStatus> {
    match (status, action) {
        (HandoffStatus::Offered, HandoffAction::Accept) => Some(HandoffStatus::Accepted),
        (HandoffStatus::Offered, HandoffAction::Reject) => Some(HandoffStatus::Rejected),
        (HandoffStatus::Offered, HandoffAction::Cancel) => Some(HandoffStatus::Cancelled),
        _ => None,
    }
}

/// The rule.
pub fn decide(
    state: &State,
    message: &Message,
    command: &HandoffCommand,
) -> Result<Decision, Refusal> {
    let sender = admit(state, &message.agent, message.authority, AUTHORITY_OWN)?;
    let authority = sender.authority.min(message.authority);
    if command.payload.action == HandoffAction::Offer {
        return offer(state, message, authority, command);
    }
    answer(state, message, authority, command)
}

fn offer(
    state: &State,
    message: &Message,
    authority: u8,
    command: &HandoffCommand,
) -> Result<Decision, Refusal> {
    let session = message.session.as_deref();
    visibility::may_write(state, message.speaker(), session)?;
    let id = command.payload.task_id.clone().unwrap_or_default();
    let to = command.payload.to_agent.clone().unwrap_or_default();
    check_recipient(state, message, &to)?;
    let wrong = |why| Refusal::from(Error::WrongTask { task: id.clone(), why });
    if let Some(task) = state.tasks.get(&id) {
        // COORDINATE answers the same to who may not know of it.
        if !visibility::may_reach(state, message.speaker(), session, task.session.as_deref()) {
            return Err(Error::TaskNotFound { task: id }.into());
        }
        check_task(state, message, authority, task, &id, &to)?;
    }
    if state.handoffs.open().any(|(_, open)| open.task == id && open.session == message.session) {
        return Err(wrong("it is offered already"));
    }
    let change = package(state, message, command, id, to)?;
    let event = Event::HandoffChanged { handoff: command.id.clone(), change };
    Ok(vec![DraftEvent { event, body: command.body.clone() }])
}

fn check_recipient(state: &State, message: &Message, to: &str) -> Result<(), Refusal> {
    let agent = to.to_owned();
    if state.agents.live(to).is_none() {
        return Err(Error::NoSuchAgent { agent }.into());
    }
    if to == message.agent {
        return Err(Error::WrongAgent { agent, why: "it is the one that offers" }.into());
    }
    visibility::may_enter(state, Speaker::named(to), message.session.as_deref())
        .map_err(|_| Error::WrongAgent { agent, why: "it is no member of the session" }.into())
}

fn check_task(
    state: &State,
    message: &Message,
    authority: u8,
    task: &TaskEntry,
    id: &str,
    to: &str,
) -> Result<(), Refusal> {
    let wrong = |why| Refusal::from(Error::WrongTask { task: id.to_owned(), why });
    if task.session != message.session {
        return Err(wrong("it belongs to another session"));
    }
    if !is_held(task.status) && task.status != TaskStatus::Pending {
        return Err(wrong("it is over"));
    }
    if task.holder() == Some(to) {
        let why = "it has the task";
        return Err(Error::WrongAgent { agent: to.to_owned(), why }.into());
    }
    let own = authority_in(state, &message.agent, authority, task.session.as_deref());
    let its_own = task.holder().is_none_or(|holder| holder == message.agent);
    let needed = if its_own { AUTHORITY_OWN } else { AUTHORITY_OTHERS };
    if own < needed {
        let agent = message.agent.clone();
        return Err(Refusal::InsufficientAuthority { agent, authority, needed });
    }
    Ok(())
}

/// Completes the package: what was named, the task's units, its open questions, open conflicts. All
/// of it is visible to both agents.
fn package(
    state: &State,
    message: &Message,
    command: &HandoffCommand,
    task: String,
    to: String,
) -> Result<HandoffChange, Refusal> {
    let session = message.session.as_deref();
    let (giver, taker) = (
        Sight::by(state, &message.agent, session, message.authority),
        Sight::of(state, &to, session),
    );
    let sees = |at: u32| giver.sees(at) && taker.sees(at);
    let context = &command.payload.context;
    let mut chosen = BTreeSet::new();
    for text in &context.memory_unit_ids {
        let at = UnitId::parse(text).and_then(|id| state.units.find(id)).filter(|at| sees(*at));
        chosen.insert(at.ok_or_else(|| not_found("memory_unit_ids", text))?);
    }
    let of_task = state.names.find(&task).map_or(&[][..], |name| state.units.of_task(name));
    let current = |at: &u32| state.units.flags(*at).is_some_and(|unit| is_current(unit.status));
    let of_task: Vec<u32> =
        of_task.iter().rev().copied().filter(|at| sees(*at)).filter(current).collect();
    chosen.extend(of_task.iter().take(HANDOFF_UNITS_MAX));
    let mut conflicts = BTreeSet::new();
    for text in &context.conflict_ids {
        let entry = ConflictId::parse(text).and_then(|id| state.conflicts.get(id));
        let seen = entry.filter(|entry| sees(entry.unit_a) && sees(entry.unit_b));
        conflicts.insert(seen.ok_or_else(|| not_found("conflict_ids", text))?.id);
    }
    let disputed = state.conflicts.iter().filter(|conflict| {
        let within = chosen.contains(&conflict.unit_a) || chosen.contains(&conflict.unit_b);
        conflict.is_open() && within && sees(conflict.unit_a) && sees(conflict.unit_b)
    });
    conflicts.extend(disputed.map(|conflict| conflict.id).take(HANDOFF_UNITS_MAX));
    let id_of = |at: &u32| state.units.details(*at).map(|unit| unit.id);
    Ok(HandoffChange::Offered {
        questions: open_questions(state, &of_task).iter().filter_map(id_of).collect(),
        units: chosen.iter().filter_map(id_of).collect(),
        conflicts: conflicts.into_iter().collect(),
        task,
        to,
    })
}

fn not_found(list: &'static str, id: &str) -> Refusal {
    Error::ContextNotFound { list, id: id.to_owned() }.into()
}

const fn is_current(status: UnitStatus) -> bool {
    !matches!(status, UnitStatus::Superseded | UnitStatus::Retracted)
}

/// The questions among a task's units that no unit of the task answers, oldest first.
fn open_questions(state: &State, of_task: &[u32]) -> Vec<u32> {
    let answered: BTreeSet<u32> = of_task
        .iter()
        .filter_map(|at| state.units.details(*at))
        .flat_map(|unit| unit.links.iter())
        .filter(|link| link.kind == RelationType::Answers)
        .filter_map(|link| match link.target {
            LinkTarget::Unit(at) => Some(at),
            LinkTarget::Foreign(_) => None,
        })
        .collect();
    let is_question = |at: &u32| {
        state.units.flags(*at).is_some_and(|unit| unit.memory_type == MemoryType::Question)
    };
    let mut open: Vec<u32> = of_task
        .iter()
        .copied()
        .filter(|at| is_question(at) && !answered.contains(at))
        .take(HANDOFF_UNITS_MAX)
        .collect();
    open.sort_unstable();
    open
}

fn answer(
    state: &State,
    message: &Message,
    authority: u8,
    command: &HandoffCommand,
) -> Result<Decision, Refusal> {
    let (id, action) = (command.id.as_str(), command.payload.action);
    let agent = message.agent.as_str();
    let not_found = || Error::NotFound { handoff: id.to_owned() };
    let handoff = state.handoffs.get(id).ok_or_else(not_found)?;
    let own = authority_in(state, agent, authority, handoff.session.as_deref());
    if !takes_part(state, handoff, message.speaker(), own) {
        return Err(not_found().into());
    }
    visibility::may_write(state, message.speaker(), handoff.session.as_deref())?;
    let whose = if action == HandoffAction::Cancel { &handoff.from } else { &handoff.to };
    let may = whose == agent || (action == HandoffAction::Cancel && own >= AUTHORITY_OTHERS);
    if !may {
        let (agent, needed) = (agent.to_owned(), AUTHORITY_OTHERS);
        return Err(if action == HandoffAction::Cancel {
            Refusal::InsufficientAuthority { agent, authority, needed }
        } else {
            Error::WrongAgent { agent, why: "it was offered to another" }.into()
        });
    }
    let status = handoff.status;
    let illegal = || Error::IllegalMove { handoff: id.to_owned(), action, status };
    let to = next_status(status, action).ok_or_else(illegal)?;
    let mut moves = Moves::default();
    moves.handoff(id, handoff, to, command.body.clone());
    if to == HandoffStatus::Accepted {
        take_over(state, handoff, &mut moves)?;
    }
    Ok(moves.finish(state))
}

/// The task is the taker's now, where it is one that COORDINATE made.
fn take_over(state: &State, handoff: &HandoffEntry, moves: &mut Moves) -> Result<(), Error> {
    let Some(task) = state.tasks.get(&handoff.task) else { return Ok(()) };
    // The name was free when it was offered, and another session's task since.
    if task.session != handoff.session {
        return Err(Error::TaskNotFound { task: handoff.task.clone() });
    }
    let destination = Destination {
        to: TaskStatus::Assigned,
        assignee: Some(handoff.to.clone()),
        needs_reassignment: false,
        results: task.results.clone(),
        ..Destination::lost(TaskCause::HandoffAccepted)
    };
    moves.task(&handoff.task, task, destination);
    Ok(())
}

fn takes_part(state: &State, handoff: &HandoffEntry, speaker: Speaker<'_>, own: u8) -> bool {
    let within = visibility::may_enter(state, speaker, handoff.session.as_deref()).is_ok();
    let agent = speaker.agent;
    within && (handoff.from == agent || handoff.to == agent || own >= AUTHORITY_OTHERS)
}

pub(super) fn is_same(command: &HandoffCommand, header: &Header<Event>, commit: &Commit) -> bool {
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

/// The handoff that a commit changed.
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
