//! Why a module came to no end of its own: the process that ran it died, or there was none to run it in.

use std::fmt;

use super::diagnostic::Diagnostic;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The process that ran it died. It may be tried again, but not for ever.
    #[error(transparent)]
    Died(#[from] Death),
    /// It can be run later: nothing that it did is the reason.
    #[error("the module cannot be run now: {reason}")]
    NotNow { reason: String },
}

/// How the process of a module ended before the module did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct Death {
    pub cause: DeathCause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeathCause {
    /// It aborted, as a process does that asks for more memory than it may have.
    Memory,
    ProcessorTime,
    /// It did not answer for so many seconds.
    Silence {
        seconds: u64,
    },
    /// Somebody killed it: a person, or the system when its memory ran out.
    Killed,
    /// It ended by another signal, or by itself.
    Ended {
        status: i32,
    },
    /// What it said is not what a module's process says.
    Nonsense,
}

impl Death {
    /// The word for it, as a diagnostic has one.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self.cause {
            DeathCause::Memory => "module_memory",
            DeathCause::ProcessorTime | DeathCause::Silence { .. } => "module_time",
            DeathCause::Killed => "module_killed",
            DeathCause::Ended { .. } | DeathCause::Nonsense => "module_process",
        }
    }

    /// What the Task fails with.
    #[must_use]
    pub fn diagnostic(self) -> Diagnostic {
        Diagnostic::new(self.code(), self.to_string())
    }
}

impl From<DeathCause> for Death {
    fn from(cause: DeathCause) -> Self {
        Self { cause }
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            DeathCause::Memory => {
                f.write_str("the process of the module aborted: it wanted more memory than it may")
            }
            DeathCause::ProcessorTime => {
                f.write_str("the process of the module computed for longer than it may")
            }
            DeathCause::Silence { seconds } => {
                write!(f, "the process of the module said nothing for {seconds} s")
            }
            DeathCause::Killed => f.write_str("the process of the module was killed"),
            DeathCause::Ended { status } => {
                write!(f, "the process of the module ended early, with status {status}")
            }
            DeathCause::Nonsense => f.write_str("the process of the module answered nonsense"),
        }
    }
}
