//! The one connection of a field that writes, and how it reacts to failed writes. Locks and followers are in
//! `field_log`.

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::{
    failure::{explain, is, is_index_short},
    head_mark::HeadMark,
    rows::{self, InsertError},
};
use crate::{
    commit::{Commit, Damage, Head},
    engine::EngineError,
    field_name::FieldName,
};

/// Records the head at which the field is sealed.
const SEAL: &str = "INSERT OR REPLACE INTO meta VALUES ('sealed', ?1)";

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) mark: HeadMark,
    pub(super) head: Head,
    pub(super) sealed: bool,
    pub(super) poisoned: Option<String>,
    /// The result code with which the next transaction fails instead of being committed.
    #[cfg(test)]
    pub(super) fail_next_commit: Option<i32>,
}

#[derive(Debug)]
pub(super) enum Abort {
    /// SQLite failed before anything was written.
    Begin(rusqlite::Error),
    Sql(rusqlite::Error),
    Refused(EngineError),
}

impl From<rusqlite::Error> for Abort {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<InsertError> for Abort {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::Sql(error) => Self::Sql(error),
            InsertError::Invalid { position, reason } => {
                Self::Refused(EngineError::InvalidBatch { position, reason })
            }
        }
    }
}

impl Writer {
    pub(super) fn check_writable(&self) -> Result<(), EngineError> {
        match &self.poisoned {
            Some(reason) => Err(EngineError::Poisoned { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// Writes a batch that has been checked to follow `self.head`, and marks its end as acknowledged. `sealed` is
    /// whether the field is sealed behind it.
    pub(super) fn append(
        &mut self,
        batch: &[Commit],
        end: Head,
        sealed: bool,
    ) -> Result<(), EngineError> {
        self.transact("append", |connection| {
            let mut statement = rows::inserter(connection)?;
            let mut text = String::new();
            for commit in batch {
                rows::insert(&mut statement, commit, &mut text)?;
            }
            if sealed {
                connection.execute(SEAL, params![end.position.to_string()])?;
            }
            Ok(())
        })?;
        self.sealed = sealed;
        self.head = end;
        // The commits are durable, so this append succeeded even if the mark could not be written. But without marks
        // the loss of a tail would go unnoticed, so no more appends are accepted.
        if let Err(error) = self.mark.write(&end) {
            self.poison(format!("the head mark cannot be written: {error}"));
        }
        Ok(())
    }

    pub(super) fn seal(&mut self, field: &FieldName) -> Result<(), EngineError> {
        let position = self.head.position.to_string();
        self.transact(&format!("seal field {field}"), |connection| {
            connection.execute(SEAL, params![position])?;
            Ok(())
        })?;
        self.sealed = true;
        Ok(())
    }

    pub(super) fn unseal(&mut self, field: &FieldName) -> Result<(), EngineError> {
        self.transact(&format!("unseal field {field}"), |connection| {
            connection.execute("DELETE FROM meta WHERE key = 'sealed'", [])?;
            Ok(())
        })?;
        self.sealed = false;
        Ok(())
    }

    /// Runs `work` in a transaction that is synced when this returns `Ok`, and rolled back otherwise.
    pub(super) fn transact<T>(
        &mut self,
        action: &str,
        work: impl FnOnce(&Connection) -> Result<T, Abort>,
    ) -> Result<T, EngineError> {
        match self.try_transact(work) {
            Ok(value) => Ok(value),
            Err(abort) => Err(self.roll_back(action, abort)),
        }
    }

    fn try_transact<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Abort>,
    ) -> Result<T, Abort> {
        let begin = || self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]);
        begin().map_err(Abort::Begin)?;
        let value = work(&self.connection)?;
        #[cfg(test)]
        if let Some(code) = self.fail_next_commit.take() {
            let error = rusqlite::ffi::Error::new(code);
            return Err(Abort::Sql(rusqlite::Error::SqliteFailure(error, None)));
        }
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(value)
    }

    fn roll_back(&mut self, action: &str, abort: Abort) -> EngineError {
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            self.poison(format!("cannot roll back after a failed {action}: {error}"));
        }
        match abort {
            Abort::Refused(error) => error,
            Abort::Begin(error) if is_index_short(&error) => explain(action, error),
            Abort::Begin(error) | Abort::Sql(error) => self.failed(action, error),
        }
    }

    /// Poisons the writer unless the error is one that leaves the storage as it was.
    pub(super) fn failed(&mut self, action: &str, error: rusqlite::Error) -> EngineError {
        let harmless = is(&error, ErrorCode::DiskFull)
            || is(&error, ErrorCode::DatabaseBusy)
            || is(&error, ErrorCode::ReadOnly);
        if !harmless {
            self.poison(format!("{action} failed: {error}"));
        }
        // The index is extended after the pages are written: after a crash it would be unclear what is left of them.
        if is_index_short(&error) {
            return EngineError::io(action, error);
        }
        explain(action, error)
    }

    fn poison(&mut self, reason: String) {
        tracing::error!(%reason, "the writer of a field is poisoned until the engine is opened again");
        self.poisoned.get_or_insert(reason);
    }
}

/// Whether the field is sealed. Nothing else may stand in that table.
pub(super) fn read_sealed(connection: &Connection, head: &Head) -> Result<bool, EngineError> {
    let strange = || Damage::storage("the table meta holds what was never written");
    let read = |sql: &str| {
        connection
            .query_row(sql, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
            .optional()
            .map_err(|e| explain("read the table meta", e))
    };
    if read("SELECT key, value FROM meta WHERE key <> 'sealed'")?.is_some() {
        return Err(strange().into());
    }
    match read("SELECT key, value FROM meta")? {
        None => Ok(false),
        Some((_, position)) if position == head.position.to_string() => Ok(true),
        Some(_) => Err(strange().into()),
    }
}
