//! The checks of a field's files that `quipu verify` runs besides the chain. They change nothing.

use std::path::Path;

use rusqlite::Connection;

use super::{
    failure::is_write_protected,
    field_log::{check_log, read_mark},
    head_mark,
    layout::FieldFiles,
    rows,
    schema::{self, Identity},
    writer::read_sealed,
};
use crate::{commit::Damage, engine::EngineError, field_name::FieldName};

/// Checks the files beside the database: any damaged slot of the head mark is damage, also one that opening survives.
///
/// # Errors
/// The damage; a file that cannot be read is damage too.
pub fn check_files(dir: &Path, field: &FieldName) -> Result<(), Damage> {
    let files = FieldFiles::new(dir, field);
    let slots = head_mark::read(&files.head)
        .map_err(|e| Damage::storage(format!("cannot read {}: {e}", files.head.display())))?;
    slots.map_or(Ok(()), |slots| slots.check())
}

/// Runs [`check_files`], SQLite's own integrity check, and compares the log's end with the head mark.
///
/// # Errors
/// The first damage found; a database that cannot be opened is damage too.
pub fn check_storage(dir: &Path, field: &FieldName) -> Result<(), Damage> {
    check_files(dir, field)?;
    let files = FieldFiles::new(dir, field);
    match check_database(&files, false) {
        Err(error) if is_write_protected(&error) && !files.has_wal() => {
            check_database(&files, true)
        }
        other => other,
    }
    .map_err(as_damage)
}

fn check_database(files: &FieldFiles, immutable: bool) -> Result<(), EngineError> {
    let (_, mark) = read_mark(files)?;
    let connection = if immutable {
        schema::open_immutable(&files.log)?
    } else {
        schema::open_reader(&files.log)?
    };
    if schema::identify(&connection, &files.log)? == Identity::Blank {
        let reason = format!("{} holds no log", files.log.display());
        return Err(Damage::storage(reason).into());
    }
    check_integrity(&connection)?;
    let head = check_log(&connection, mark)?;
    rows::check_dense(&connection, head.position)?;
    read_sealed(&connection, &head)?;
    Ok(())
}

fn check_integrity(connection: &Connection) -> Result<(), Damage> {
    let answer = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
        .unwrap_or_else(|e| e.to_string());
    if answer == "ok" { Ok(()) } else { Err(Damage::storage(answer)) }
}

fn as_damage(error: EngineError) -> Damage {
    if let EngineError::Damaged(damage) = error {
        return damage;
    }
    let mut reason = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(next) = cause {
        reason = format!("{reason}: {next}");
        cause = next.source();
    }
    Damage::storage(reason)
}
