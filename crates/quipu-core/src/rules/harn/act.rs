//! The acts of this protocol: what opens or closes a session, and what moves a task. They are COORDINATE's
//! and SESSION's moves; a worker's claim is claim and start in one, because this protocol knows no task that
//! is taken and not begun.

use quipu_log::Body;
use quipu_wire::akashik::{SessionPolicy, TaskStatus};

use super::{
    ImportedTask,
    attempts::{fail_attempt, failed, renew},
    import,
    session_acts::{close, join, open},
    task_acts::{answer, cancel, claim, kept, moved, resume, sign_of_life, submit, working},
};
use crate::{
    event::coordination::{TaskCause, WorkTerms},
    ids::UnitId,
    message::Message,
    rules::{Decision, Refusal, task_events::Destination},
    state::State,
};

/// The authority to move the tasks of others.
pub const AUTHORITY_OTHERS: u8 = 8;

/// Something that moves a session or a task.
#[derive(Debug, Clone)]
pub enum HarnAct {
    OpenSession {
        session: String,
        policy: SessionPolicy,
        /// The session that it is a copy of.
        copy_of: Option<String>,
        /// A [`SessionBody`](crate::event::coordination::SessionBody).
        body: Body,
    },
    /// Moves nothing: who speaks in a session that anybody may join becomes a member of it.
    EnterSession {
        session: String,
    },
    /// Ends a session, and calls off what is open in it.
    CloseSession {
        session: String,
    },
    /// Makes a task in the message's session.
    SubmitTask {
        task: String,
        /// Whether the Field itself works on it, at once.
        by_field: bool,
        /// Who is to find it, and how often it is tried.
        terms: Option<WorkTerms>,
        /// A [`TaskBody`](crate::event::coordination::TaskBody).
        body: Body,
    },
    /// Brings a finished task here from another server.
    ImportTask(Box<ImportedTask>),
    /// Takes a task and begins; from whoever has it already, a sign of life.
    ClaimTask {
        task: String,
        /// How long without another sign.
        lease_ms: u64,
    },
    /// A sign of life, and nothing else.
    Renew {
        task: String,
        /// How long without another sign; as long as before if absent.
        lease_ms: Option<u64>,
    },
    /// Moves nothing, and checks that the actor works on the task.
    WorkOn {
        task: String,
    },
    /// The task waits for input, or for somebody to allow something.
    Await {
        task: String,
        /// Whether for somebody to allow something.
        auth: bool,
        /// A [`ReasonBody`](crate::event::coordination::ReasonBody).
        body: Body,
    },
    Resume {
        task: String,
    },
    /// Somebody outside answers what a task of the Field's own waits for: it goes on.
    Answer {
        task: String,
    },
    Complete {
        task: String,
        results: Vec<UnitId>,
    },
    Fail {
        task: String,
        /// A [`ReasonBody`](crate::event::coordination::ReasonBody).
        body: Body,
    },
    /// Ends the attempt: the task is due again after its pause.
    FailAttempt {
        task: String,
        /// A [`ReasonBody`](crate::event::coordination::ReasonBody).
        body: Body,
    },
    /// The last attempt failed.
    Exhaust {
        task: String,
        /// A [`ReasonBody`](crate::event::coordination::ReasonBody).
        body: Body,
    },
    Cancel {
        task: String,
        /// A [`ReasonBody`](crate::event::coordination::ReasonBody), where a reason was given.
        body: Option<Body>,
    },
}

impl HarnAct {
    /// The session or task that it makes, or the session that it enters: the act itself says who may write
    /// there.
    #[must_use]
    pub fn made(&self) -> Option<&str> {
        match self {
            Self::OpenSession { session, .. } | Self::EnterSession { session } => Some(session),
            Self::SubmitTask { task, .. } => Some(task),
            Self::ImportTask(imported) => Some(&imported.task),
            Self::CloseSession { .. }
            | Self::ClaimTask { .. }
            | Self::Renew { .. }
            | Self::WorkOn { .. }
            | Self::Await { .. }
            | Self::Resume { .. }
            | Self::Answer { .. }
            | Self::Complete { .. }
            | Self::Fail { .. }
            | Self::FailAttempt { .. }
            | Self::Exhaust { .. }
            | Self::Cancel { .. } => None,
        }
    }

    /// The session that the actor may write in once this is decided.
    #[must_use]
    pub fn enters<'a>(&'a self, message: &'a Message) -> Option<&'a str> {
        if let Self::SubmitTask { .. } = self {
            return message.session.as_deref();
        }
        self.made()
    }

    #[must_use]
    pub const fn is_ending(&self) -> bool {
        match self {
            Self::Complete { .. }
            | Self::Fail { .. }
            | Self::Exhaust { .. }
            | Self::Cancel { .. } => true,
            Self::OpenSession { .. }
            | Self::EnterSession { .. }
            | Self::CloseSession { .. }
            | Self::SubmitTask { .. }
            | Self::ImportTask(_)
            | Self::ClaimTask { .. }
            | Self::Renew { .. }
            | Self::WorkOn { .. }
            | Self::Await { .. }
            | Self::Resume { .. }
            | Self::Answer { .. }
            | Self::FailAttempt { .. } => false,
        }
    }
}

pub(super) fn decide(
    state: &State,
    message: &Message,
    authority: u8,
    time_ms: u64,
    act: &HarnAct,
) -> Result<Decision, Refusal> {
    match act {
        HarnAct::OpenSession { session, policy, copy_of, body } => {
            open(state, session, (policy, copy_of.as_deref()), body)
        }
        HarnAct::EnterSession { session } => join(state, message, Some(session)),
        HarnAct::CloseSession { session } => close(state, message, authority, session),
        HarnAct::SubmitTask { task, by_field, terms, body } => {
            submit(state, message, task, *by_field, terms.as_ref(), body)
        }
        HarnAct::ImportTask(imported) => import::decide(state, message, authority, imported),
        HarnAct::ClaimTask { task, lease_ms } => claim(state, message, time_ms, task, *lease_ms),
        HarnAct::Renew { task, lease_ms } => renew(state, message, time_ms, task, *lease_ms),
        HarnAct::WorkOn { task } => {
            let entry = working(state, message, authority, task)?;
            Ok(sign_of_life(time_ms, task, entry))
        }
        HarnAct::Await { task, auth, body } => {
            let entry = working(state, message, authority, task)?;
            let cause = if *auth { TaskCause::AwaitAuth } else { TaskCause::Block };
            let to = Destination {
                to: TaskStatus::Blocked,
                lease: entry.lease,
                body: Some(body.clone()),
                ..kept(cause, entry)
            };
            Ok(moved(state, task, entry, to))
        }
        HarnAct::Resume { task } => resume(state, message, authority, task),
        HarnAct::Answer { task } => answer(state, message, task),
        HarnAct::Complete { task, results } => {
            let entry = working(state, message, authority, task)?;
            let to = Destination {
                to: TaskStatus::Completed,
                results: results.clone(),
                ..kept(TaskCause::Complete, entry)
            };
            Ok(moved(state, task, entry, to))
        }
        HarnAct::Fail { task, body } => {
            let entry = working(state, message, authority, task)?;
            Ok(moved(state, task, entry, failed(TaskCause::Fail, entry, body)))
        }
        HarnAct::FailAttempt { task, body } => {
            let entry = working(state, message, authority, task)?;
            fail_attempt(state, time_ms, task, entry, body)
        }
        HarnAct::Exhaust { task, body } => {
            let entry = working(state, message, authority, task)?;
            Ok(moved(state, task, entry, failed(TaskCause::Exhausted, entry, body)))
        }
        HarnAct::Cancel { task, body } => cancel(state, message, authority, task, body.clone()),
    }
}
