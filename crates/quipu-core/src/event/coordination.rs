//! What can happen to sessions, tasks and handoffs, as it is persisted inside of their events. The
//! words are stable: never change what an old one means. Free text is in the bodies below.

use quipu_wire::akashik::{HandoffStatus, SessionPolicy, SessionStatus, TaskStatus};
use serde::{Deserialize, Serialize};

use crate::ids::{ConflictId, UnitId};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum SessionChange {
    /// It was opened by the commit's actor. Its body is a [`SessionBody`].
    Created {
        policy: SessionPolicy,
        /// The session that it is a copy of: a fork or a replay of it. Absent in logs of before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        copy_of: Option<String>,
    },
    Joined {
        agent: String,
    },
    Left {
        agent: String,
    },
    Moved {
        from: SessionStatus,
        to: SessionStatus,
    },
    PolicySet {
        policy: SessionPolicy,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskCause {
    Assign,
    Claim,
    Start,
    /// It cannot go on. Its body is a [`ReasonBody`].
    Block,
    /// It cannot go on before somebody allows something. Its body is a [`ReasonBody`].
    AwaitAuth,
    Unblock,
    Complete,
    /// It was given up. Its body is a [`ReasonBody`].
    Fail,
    /// This attempt failed, and another may be made. Its body is a [`ReasonBody`].
    AttemptFailed,
    /// The last attempt failed, or lost its agent. Its body, if any, is a [`ReasonBody`].
    Exhausted,
    Release,
    Retry,
    Cancel,
    Renew,
    LeaseExpired,
    OwnerLeft,
    SessionEnded,
    HandoffAccepted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TaskChange {
    /// It was made by the commit's actor in the commit's session. Its body is a [`TaskBody`].
    Created {
        assignee: Option<String>,
        depends_on: Vec<String>,
        priority: u8,
        /// Its lease, where it has an agent.
        lease: Option<Lease>,
        /// Who is to find it, and how often it is tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terms: Option<WorkTerms>,
    },
    Moved {
        cause: TaskCause,
        from: TaskStatus,
        to: TaskStatus,
        assignee: Option<String>,
        /// Whether it waits for another agent than it had.
        needs_reassignment: bool,
        results: Vec<UnitId>,
        lease: Option<Lease>,
        /// Until when nobody is given it who asks for the next one, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_ms: Option<u64>,
    },
}

/// By what a task is found by whoever asks for the next one, and how often it is tried. No member is ever left out: the
/// state holds this too, and its snapshots have no names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkTerms {
    #[serde(default)]
    pub queue: Option<String>,
    /// The task that it is a part of or replays.
    #[serde(default)]
    pub parent: Option<String>,
    #[serde(default)]
    pub retry: Option<RetryPolicy>,
}

impl WorkTerms {
    /// Nothing where nothing is said.
    #[must_use]
    pub fn unless_empty(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

/// How often a task is tried, and how long nobody is given it after an attempt that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    pub max_attempts: u32,
    pub backoff_ms: u64,
    /// By how many thousandths of itself the pause grows with each attempt.
    pub factor_thousandths: u32,
    pub max_backoff_ms: u64,
}

impl RetryPolicy {
    /// The pause after so many attempts that failed.
    #[must_use]
    pub fn pause_ms(&self, failed: u32) -> u64 {
        let most = u128::from(self.max_backoff_ms);
        let mut pause = u128::from(self.backoff_ms).min(most);
        for _ in 1..failed {
            if pause == 0 || pause >= most {
                break;
            }
            pause = (pause * u128::from(self.factor_thousandths) / 1000).min(most);
        }
        u64::try_from(pause).unwrap_or(self.max_backoff_ms)
    }
}

/// How long an agent holds a task without a sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub length_ms: u64,
    /// When it runs out, in milliseconds since 1970.
    pub until_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum HandoffChange {
    /// It was offered by the commit's actor. Its body is a [`HandoffBody`].
    Offered {
        task: String,
        /// Who is to take over.
        to: String,
        units: Vec<UnitId>,
        /// The task's questions that nobody has answered.
        questions: Vec<UnitId>,
        conflicts: Vec<ConflictId>,
    },
    /// It was answered, taken back, or ran out. Its body, if any, is a [`ReasonBody`].
    Moved { task: String, to: HandoffStatus },
}

/// The free text of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBody {
    pub goal: String,
}

/// The free text of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskBody {
    pub title: String,
    pub purpose: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonBody {
    pub reason: String,
}

/// The free text of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffBody {
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What nobody has answered, besides the task's questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
}
