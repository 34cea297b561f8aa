//! What an error of the database means for the log.

use quipu_log::EngineError;
use tokio_postgres::{Error, error::SqlState};

use crate::open_error::Cause;

/// What is certain about a failed statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The server refused it, and the transaction is undone.
    Undone,
    /// The disk is full, and the transaction is undone.
    Full,
    /// No answer came, so the outcome is unknown.
    Unknown,
}

pub(super) fn fate(error: &Error) -> Fate {
    let Some(said) = error.as_db_error() else { return Fate::Unknown };
    let code = said.code();
    if *code == SqlState::DISK_FULL {
        return Fate::Full;
    }
    // A session that was terminated, or lost its server, may have committed a moment before.
    let cut = code.code().starts_with("57P") || code.code().starts_with("08");
    if cut { Fate::Unknown } else { Fate::Undone }
}

/// Whether the server ended a transaction because it was idle for too long.
pub(super) fn is_turn_over(error: &Error) -> bool {
    error.code() == Some(&SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT)
}

/// The engine's error for a statement that only reads, or that may be repeated.
pub(super) fn explain(action: &str, error: Error) -> EngineError {
    if fate(&error) == Fate::Full { EngineError::Full } else { io(action, error) }
}

pub(super) fn io(action: &str, source: impl Into<Cause>) -> EngineError {
    EngineError::Io { action: format!("{action} in the database"), source: source.into() }
}

/// The error for a failure that wrote nothing.
pub(super) fn unavailable(action: &str, source: impl Into<Cause>) -> EngineError {
    EngineError::Unavailable { action: format!("{action} in the database"), source: source.into() }
}
