//! Who may make, give and move tasks.

use quipu_wire::akashik::TaskAction;

use super::{CoordinateCommand, Error};
use crate::{
    message::Message,
    rules::Refusal,
    state::{State, TaskEntry},
    visibility::{self, Speaker, authority_in},
};

/// The authority to read of tasks, to have tasks of one's own, to give tasks to others, and to move
/// the tasks of others.
pub const AUTHORITY_READ: u8 = 2;
pub(super) const AUTHORITY_OWN: u8 = 4;
const AUTHORITY_GIVE: u8 = 6;
const AUTHORITY_OTHERS: u8 = 8;

pub(super) fn check_assignee(
    state: &State,
    message: &Message,
    own: u8,
    assignee: &str,
    session: Option<&str>,
) -> Result<(), Refusal> {
    if assignee != message.agent {
        require(message, own, AUTHORITY_GIVE)?;
    }
    if state.agents.live(assignee).is_none() {
        return Err(Error::NoSuchAgent { agent: assignee.to_owned() }.into());
    }
    visibility::may_enter(state, Speaker::named(assignee), session)
        .map_err(|_| Error::AssigneeOutside { agent: assignee.to_owned() }.into())
}

fn require(message: &Message, authority: u8, needed: u8) -> Result<(), Refusal> {
    if authority >= needed {
        return Ok(());
    }
    let agent = message.agent.clone();
    Err(Refusal::InsufficientAuthority { agent, authority, needed })
}

/// The task, if the sender may know of it.
pub(super) fn reach<'s>(
    state: &'s State,
    message: &Message,
    id: &str,
    path: &str,
) -> Result<&'s TaskEntry, Refusal> {
    let (speaker, session) = (message.speaker(), message.session.as_deref());
    state
        .tasks
        .get(id)
        .filter(|task| visibility::may_reach(state, speaker, session, task.session.as_deref()))
        .ok_or_else(|| Error::NotFound { path: path.to_owned(), task: id.to_owned() }.into())
}

/// Checks that the sender may make this move of this task.
pub(super) fn authorize(
    state: &State,
    message: &Message,
    authority: u8,
    command: &CoordinateCommand,
    task: &TaskEntry,
) -> Result<(), Refusal> {
    let agent = message.agent.as_str();
    let session = task.session.as_deref();
    let own = authority_in(state, agent, authority, session);
    let (has_it, made_it) = (task.assigned_to.as_deref() == Some(agent), task.created_by == agent);
    let needed = match command.payload.action {
        TaskAction::Assign => {
            let assignee = command.payload.assignee.as_deref().unwrap_or(agent);
            return check_assignee(state, message, own, assignee, session);
        }
        TaskAction::Claim | TaskAction::Create | TaskAction::Get | TaskAction::List => {
            AUTHORITY_OWN
        }
        TaskAction::Start
        | TaskAction::Block
        | TaskAction::Unblock
        | TaskAction::Complete
        | TaskAction::Fail
        | TaskAction::Renew
        | TaskAction::Release => {
            if has_it || task.holder().is_none() {
                AUTHORITY_OWN
            } else {
                AUTHORITY_OTHERS
            }
        }
        TaskAction::Retry => {
            if has_it || made_it {
                AUTHORITY_OWN
            } else {
                AUTHORITY_GIVE
            }
        }
        TaskAction::Cancel => {
            if has_it || made_it {
                AUTHORITY_OWN
            } else {
                AUTHORITY_OTHERS
            }
        }
    };
    require(message, own, needed)
}
