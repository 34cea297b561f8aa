//! What an error of the database means for the log.

use quipu_log::EngineError;
use tokio_postgres::{Error, error::SqlState};

use crate::open_error::Cause;

/// What is known about a statement that failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The server said no: the transaction is undone.
    Undone,
    /// There is no room, and the transaction is undone.
    Full,
    /// Nobody said what became of it.
    Unknown,
}

/// What became of the statement that failed with this.
pub(super) fn fate(error: &Error) -> Fate {
    let Some(said) = error.as_db_error() else { return Fate::Unknown };
    let code = said.code();
    if *code == SqlState::DISK_FULL {
        return Fate::Full;
    }
    // A session that is ended from outside may have committed a moment before; so may one that lost its server.
    let cut = code.code().starts_with("57P") || code.code().starts_with("08");
    if cut { Fate::Unknown } else { Fate::Undone }
}

/// Whether the server ended a transaction because nothing was said in it for too long.
pub(super) fn is_turn_over(error: &Error) -> bool {
    error.code() == Some(&SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT)
}

/// The error of a statement that only reads, or that may be repeated.
pub(super) fn explain(action: &str, error: Error) -> EngineError {
    if fate(&error) == Fate::Full { EngineError::Full } else { io(action, error) }
}

pub(super) fn io(action: &str, source: impl Into<Cause>) -> EngineError {
    EngineError::Io { action: format!("{action} in the database"), source: source.into() }
}

/// Nothing was written.
pub(super) fn unavailable(action: &str, source: impl Into<Cause>) -> EngineError {
    EngineError::Unavailable { action: format!("{action} in the database"), source: source.into() }
}
