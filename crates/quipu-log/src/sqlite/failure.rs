//! What an error of SQLite means for the log: damage, a full disk, or storage that cannot be trusted any more.
//! Decides nothing about what to do next.

use rusqlite::{Error, ErrorCode, ffi};

use crate::{commit::Damage, engine::EngineError};

/// Too many open files: in the whole system, and in this process.
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;

pub(super) fn is(error: &Error, code: ErrorCode) -> bool {
    error.sqlite_error_code() == Some(code)
}

/// Whether the disk is full. SQLite also reports it when it cannot extend the shared index of its write-ahead log.
pub(super) fn is_full(error: &Error) -> bool {
    is(error, ErrorCode::DiskFull) || is_index_short(error)
}

/// Whether the shared index of the write-ahead log could not be made longer.
pub(super) fn is_index_short(error: &Error) -> bool {
    error.sqlite_error().is_some_and(|e| e.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

pub(super) fn is_damage(error: &Error) -> bool {
    // Statements are fixed and the schema is compared at open, so a statement that SQLite cannot
    // compile or a value of another type also means that the file is not what was written.
    is(error, ErrorCode::DatabaseCorrupt)
        || is(error, ErrorCode::NotADatabase)
        || is(error, ErrorCode::TypeMismatch)
        || is(error, ErrorCode::Unknown)
        || error.sqlite_error_code().is_none()
}

pub(super) fn explain(action: &str, error: Error) -> EngineError {
    if is_full(&error) {
        EngineError::Full
    } else if is_damage(&error) {
        Damage::storage(format!("cannot {action}: {error}")).into()
    } else {
        EngineError::io(action, error)
    }
}

/// Whether a file could not be opened because the process, or the machine, has too many open. It passes when others are
/// closed. SQLite does not say why it cannot open one.
pub(super) fn is_out_of_handles(error: &EngineError) -> bool {
    let EngineError::Io { source, .. } = error else { return false };
    let of_system = |error: &std::io::Error| matches!(error.raw_os_error(), Some(ENFILE | EMFILE));
    source.downcast_ref::<std::io::Error>().is_some_and(of_system)
        || source.downcast_ref::<Error>().is_some_and(|e| is(e, ErrorCode::CannotOpen))
}

/// Whether SQLite could not create the files that it needs beside a database, even for reading.
pub(super) fn is_write_protected(error: &EngineError) -> bool {
    let EngineError::Io { source, .. } = error else { return false };
    source
        .downcast_ref::<Error>()
        .is_some_and(|e| is(e, ErrorCode::CannotOpen) || is(e, ErrorCode::ReadOnly))
}
