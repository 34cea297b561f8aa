//! HANDOFF (our contract, `docs/protocol/handoff.md`): a task goes to another agent with everything
//! that it needs to know. The Field completes the package; who accepts has the task.

use quipu_log::{Body, DraftEvent};
use quipu_wire::{
    akashik::{HandoffAction, HandoffPayload, HandoffStatus, TaskStatus},
    json::canon::CanonError,
};

use super::{Error, package::package};
use crate::{
    event::{
        Event,
        coordination::{HandoffBody, ReasonBody, TaskCause},
    },
    ids::HandoffId,
    message::Message,
    origin::Origin,
    rules::{
        Decision, Refusal, admit,
        task_events::{Destination, Moves},
    },
    state::{HandoffEntry, State, TaskEntry, is_held},
    visibility::{self, Speaker, authority_in},
};

/// The authority to read of handoffs, to hand over what is one's own, and what is another's.
pub const AUTHORITY_READ: u8 = 2;
const AUTHORITY_OWN: u8 = 4;
const AUTHORITY_OTHERS: u8 = 8;

/// A HANDOFF with everything drawn for it.
#[derive(Debug, Clone)]
pub struct HandoffCommand {
    pub(super) payload: HandoffPayload,
    pub(super) id: String,
    pub(super) body: Option<Body>,
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
    visibility::may_write_within(state, message.speaker(), session)?;
    let id = command.payload.task_id.clone().unwrap_or_default();
    let to = command.payload.to_agent.clone().unwrap_or_default();
    check_recipient(state, message, &to)?;
    let wrong = |why| Refusal::from(Error::WrongTask { task: id.clone(), why });
    // A task that the sender may not know of is to it a name like any other, of which there is no task.
    let known = |task: &&TaskEntry| {
        visibility::may_reach(state, message.speaker(), session, task.session.as_deref())
    };
    if let Some(task) = state.tasks.get(&id).filter(known) {
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
        take_over(state, message.speaker(), handoff, &mut moves)?;
    }
    Ok(moves.finish(state))
}

/// The task is the taker's now, where it is one that COORDINATE made.
fn take_over(
    state: &State,
    taker: Speaker<'_>,
    handoff: &HandoffEntry,
    moves: &mut Moves,
) -> Result<(), Error> {
    let within = handoff.session.as_deref();
    let known =
        |task: &&TaskEntry| visibility::may_reach(state, taker, within, task.session.as_deref());
    let Some(task) = state.tasks.get(&handoff.task).filter(known) else { return Ok(()) };
    // The name is that of another session's task, which who takes over knows, and who offered perhaps not.
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

/// Whether somebody gave the handoff, may take it, or may decide about those of others.
pub(super) fn takes_part(
    state: &State,
    handoff: &HandoffEntry,
    speaker: Speaker<'_>,
    own: u8,
) -> bool {
    let within = visibility::may_enter(state, speaker, handoff.session.as_deref()).is_ok();
    let agent = speaker.agent;
    within && (handoff.from == agent || handoff.to == agent || own >= AUTHORITY_OTHERS)
}
