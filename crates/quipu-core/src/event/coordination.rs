//! What can happen to sessions, tasks and handoffs, as it is persisted inside of their events. The
//! words are stable: never change what an old one means. Free text is in the bodies below.

use quipu_wire::akashik::{HandoffStatus, SessionPolicy, SessionStatus, TaskStatus};
use serde::{Deserialize, Serialize};

use crate::ids::{ConflictId, UnitId};

/// What happened to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum SessionChange {
    /// It was opened by the commit's actor. Its body is a [`SessionBody`].
    Created {
        /// Its rules.
        policy: SessionPolicy,
    },
    /// Somebody became a member.
    Joined {
        /// The agent.
        agent: String,
    },
    /// Somebody is no member any more.
    Left {
        /// The agent.
        agent: String,
    },
    /// It was paused, resumed or ended.
    Moved {
        /// What it was.
        from: SessionStatus,
        /// What it is now.
        to: SessionStatus,
    },
    /// It has other rules.
    PolicySet {
        /// The new ones.
        policy: SessionPolicy,
    },
}

/// Why a task moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskCause {
    /// It was given to an agent.
    Assign,
    /// An agent took it.
    Claim,
    /// Its agent began.
    Start,
    /// It cannot go on. Its body is a [`ReasonBody`].
    Block,
    /// It cannot go on before somebody allows something. Its body is a [`ReasonBody`].
    AwaitAuth,
    /// It can.
    Unblock,
    /// It is done.
    Complete,
    /// It was given up. Its body is a [`ReasonBody`].
    Fail,
    /// It was put back.
    Release,
    /// It is tried again.
    Retry,
    /// It was called off.
    Cancel,
    /// Its lease was extended.
    Renew,
    /// Its lease ran out.
    LeaseExpired,
    /// Its agent left the Field.
    OwnerLeft,
    /// Its session was ended.
    SessionEnded,
    /// Another agent accepted it.
    HandoffAccepted,
}

/// What happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TaskChange {
    /// It was made by the commit's actor in the commit's session. Its body is a [`TaskBody`].
    Created {
        /// Who is to do it.
        assignee: Option<String>,
        /// What has to be completed before.
        depends_on: Vec<String>,
        /// How urgent.
        priority: u8,
        /// Its lease, where it has an agent.
        lease: Option<Lease>,
    },
    /// It moved.
    Moved {
        /// What moved it.
        cause: TaskCause,
        /// What it was.
        from: TaskStatus,
        /// What it is now.
        to: TaskStatus,
        /// Who works on it now.
        assignee: Option<String>,
        /// Whether it waits for another agent than it had.
        needs_reassignment: bool,
        /// What came of it.
        results: Vec<UnitId>,
        /// Its lease.
        lease: Option<Lease>,
    },
}

/// How long an agent holds a task without a sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Its length in milliseconds.
    pub length_ms: u64,
    /// When it runs out, in milliseconds since 1970.
    pub until_ms: u64,
}

/// What happened to a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum HandoffChange {
    /// It was offered by the commit's actor. Its body is a [`HandoffBody`].
    Offered {
        /// The task.
        task: String,
        /// Who is to take over.
        to: String,
        /// The package: the units to read.
        units: Vec<UnitId>,
        /// The task's questions that nobody has answered.
        questions: Vec<UnitId>,
        /// The open conflicts of these units.
        conflicts: Vec<ConflictId>,
    },
    /// It was answered, taken back, or ran out. Its body, if any, is a [`ReasonBody`].
    Moved {
        /// The task.
        task: String,
        /// What it is now.
        to: HandoffStatus,
    },
}

/// The free text of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBody {
    /// What it is for.
    pub goal: String,
}

/// The free text of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskBody {
    /// What is to be done.
    pub title: String,
    /// What for.
    pub purpose: String,
    /// The question that it is to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// Why something moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonBody {
    /// In words.
    pub reason: String,
}

/// The free text of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffBody {
    /// Why it was offered.
    pub reason: String,
    /// Where things stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What nobody has answered, besides the task's questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// What was taken for granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
}
