//! Where a Task stands and where it may go: the one table of the life of a Task.

use crate::words::words;

use super::{EventKind, OutcomeStatus};

words! {
    /// The `status` of a Task.
    TaskState {
        /// Accepted, durable, nobody works on it yet.
        Submitted = "SUBMITTED",
        /// Somebody works on it.
        Working = "WORKING",
        /// Waits for the user.
        InputRequired = "INPUT_REQUIRED",
        /// Waits for an authorization.
        AuthRequired = "AUTH_REQUIRED",
        /// Done.
        Completed = "COMPLETED",
        /// Given up.
        Failed = "FAILED",
        /// Called off.
        Canceled = "CANCELED",
    }
}

impl TaskState {
    #[must_use]
    pub const fn successors(self) -> &'static [Self] {
        match self {
            Self::Submitted => &[Self::Working, Self::Canceled, Self::Failed],
            Self::Working => &[
                Self::InputRequired,
                Self::AuthRequired,
                Self::Completed,
                Self::Failed,
                Self::Canceled,
            ],
            Self::InputRequired | Self::AuthRequired => {
                &[Self::Working, Self::Failed, Self::Canceled]
            }
            Self::Completed | Self::Failed | Self::Canceled => &[],
        }
    }

    /// Whether the Task may go to `next` from here.
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        self.successors().contains(&next)
    }

    /// Whether it stays here for ever.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        self.successors().is_empty()
    }

    /// The event that a Task's coming here is told by.
    #[must_use]
    pub const fn event_after(self, before: Option<Self>) -> EventKind {
        match (self, before) {
            (Self::Submitted, _) => EventKind::TaskSubmitted,
            (Self::Working, None | Some(Self::Submitted)) => EventKind::TaskStarted,
            (Self::Working, Some(_)) => EventKind::TaskStatusChanged,
            (Self::InputRequired, _) => EventKind::TaskInputRequired,
            (Self::AuthRequired, _) => EventKind::TaskAuthRequired,
            (Self::Completed, _) => EventKind::TaskCompleted,
            (Self::Failed, _) => EventKind::TaskFailed,
            (Self::Canceled, _) => EventKind::TaskCanceled,
        }
    }

    /// How a Task ended, if this event ends one.
    #[must_use]
    pub fn ended_by(kind: EventKind) -> Option<OutcomeStatus> {
        let ends = |state: &&Self| state.is_terminal() && state.event_after(None) == kind;
        Self::ALL.iter().find(ends)?.outcome()
    }

    /// How outcomes and receipts call this end of a Task; nothing while it lasts.
    #[must_use]
    pub const fn outcome(self) -> Option<OutcomeStatus> {
        match self {
            Self::Completed => Some(OutcomeStatus::Succeeded),
            Self::Failed => Some(OutcomeStatus::Failed),
            Self::Canceled => Some(OutcomeStatus::Canceled),
            Self::Submitted | Self::Working | Self::InputRequired | Self::AuthRequired => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn the_table_is_the_published_one() {
        let mut table = String::new();
        for from in TaskState::ALL {
            write!(table, "{from}:").unwrap();
            for to in TaskState::ALL.iter().filter(|to| from.may_become(**to)) {
                write!(table, " {to} ({})", to.event_after(Some(*from))).unwrap();
            }
            table.push('\n');
        }
        insta::assert_snapshot!("harn_task_states", table);
    }

    #[test]
    fn a_terminal_state_has_an_outcome_and_no_way_out() {
        for state in TaskState::ALL {
            assert_eq!(state.is_terminal(), state.outcome().is_some());
            assert_eq!(TaskState::ended_by(state.event_after(None)), state.outcome());
            assert!(!state.may_become(*state));
            assert!(!state.may_become(TaskState::Submitted));
        }
    }
}
