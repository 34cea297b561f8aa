//! One open field: its writer, its readers, and the head that followers wait for. The engine knows which fields there
//! are.

use std::{
    fs::OpenOptions,
    io::ErrorKind,
    path::Path,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::Connection;

use super::{
    erase,
    failure::{explain, is_full, is_write_protected},
    head_mark::{self, HeadMark, Mark, Slots},
    layout::{FieldFiles, make_dir, private_file, sync_dir},
    open_error::OpenError,
    options::SqliteOptions,
    readers::Readers,
    rows,
    schema::{self, Identity},
    writer::{Writer, read_sealed},
};
use crate::{
    commit::{Commit, Damage, DamageKind, Head, StoredBodies, StoredHeader},
    engine::{BodyAddress, EngineError, Erasure, not_sealed},
    field_name::FieldName,
};

/// How often a follower polls the file if the writer is in another process.
const POLL: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct FieldLog {
    name: FieldName,
    files: FieldFiles,
    // Dropped before the writer: the last connection to close cleans up, and that has to be the writer.
    readers: Readers,
    /// None if the directory is open for reading only.
    writer: Option<Mutex<Writer>>,
    published: Mutex<Head>,
    moved: Condvar,
}

fn io(action: &str, path: &Path) -> impl FnOnce(std::io::Error) -> EngineError {
    let action = format!("{action} {}", path.display());
    move |source| {
        if source.kind() == ErrorKind::StorageFull {
            EngineError::Full
        } else {
            EngineError::io(action, source)
        }
    }
}

pub(super) fn read_mark(files: &FieldFiles) -> Result<(Option<Slots>, Option<Mark>), EngineError> {
    let slots = head_mark::read(&files.head).map_err(io("read", &files.head))?;
    let mark = match &slots {
        Some(slots) => slots.highest(&files.head)?,
        None => None,
    };
    Ok((slots, mark))
}

/// The cheap checks of a log: the mark and the last commit. Whoever reads the log verifies the chain; counting the
/// commits would read every page of the file.
pub(super) fn check_log(connection: &Connection, mark: Option<Mark>) -> Result<Head, EngineError> {
    let last = rows::last(connection)?;
    let head = last.as_ref().map_or(Head::EMPTY, Commit::head);
    if let Some(mark) = mark {
        mark.compare(&head, rows::hash_at(connection, mark.position)?)?;
    }
    if let Some(last) = &last {
        last.verify_alone()?;
    }
    Ok(head)
}

impl FieldLog {
    /// Opens a field for writing, or creates it.
    pub(super) fn open(
        name: FieldName,
        files: FieldFiles,
        options: SqliteOptions,
    ) -> Result<Self, EngineError> {
        // The mark is read before the log, so everything that it acknowledges must be in the log.
        let (slots, mark) = read_mark(&files)?;
        create_files(&files, mark)?;
        let connection = schema::open_writer(&files.log)?;
        let sql = |e| explain(&format!("open {}", files.log.display()), e);
        if schema::identify(&connection, &files.log)? == Identity::Blank {
            missing_unless_new(mark)?;
            schema::create(&connection).map_err(sql)?;
            sync_dir(&files.dir).map_err(io("sync", &files.dir))?;
        }
        let head = check_log(&connection, mark)?;
        let sealed = read_sealed(&connection, &head)?;
        schema::configure_writer(&connection, options).map_err(sql)?;
        // Removes from the write-ahead log what an interrupted erase left there.
        match schema::checkpoint_truncate(&connection) {
            Ok(true) => {}
            Ok(false) => {
                tracing::warn!(field = %name, "the write-ahead log is in use and was not emptied");
            }
            // A full disk must not prevent reading.
            Err(error) if is_full(&error) => {
                tracing::warn!(field = %name, "no room to empty the write-ahead log");
            }
            Err(error) => return Err(sql(error)),
        }
        let mut head_mark = HeadMark::open(&files.head, slots).map_err(io("open", &files.head))?;
        if mark.is_none() && head != Head::EMPTY {
            tracing::warn!(field = %name, "no head mark: a lost tail would have gone unseen");
            head_mark.write(&head).map_err(io("write", &files.head))?;
        }
        let writer = Writer {
            connection,
            mark: head_mark,
            head,
            sealed,
            poisoned: None,
            #[cfg(test)]
            fail_next_commit: None,
        };
        let readers = Readers::new(files.log.clone(), false);
        Ok(Self::new(name, files, readers, Some(writer), head))
    }

    /// Opens a field that another process may be writing to, or that is on read-only storage.
    pub(super) fn open_read_only(name: FieldName, files: FieldFiles) -> Result<Self, EngineError> {
        let (_, mark) = read_mark(&files)?;
        if !files.log.exists() {
            missing_unless_new(mark)?;
            return Err(EngineError::UnknownField { field: name });
        }
        let check = |connection: &Connection| {
            if schema::identify(connection, &files.log)? == Identity::Blank {
                missing_unless_new(mark)?;
                return Err(EngineError::UnknownField { field: name.clone() });
            }
            let head = check_log(connection, mark)?;
            read_sealed(connection, &head)?;
            Ok(head)
        };
        let mut readers = Readers::new(files.log.clone(), false);
        let head = match readers.with(check) {
            Err(error) if is_write_protected(&error) && !files.has_wal() => {
                readers = Readers::new(files.log.clone(), true);
                readers.with(check)?
            }
            other => other?,
        };
        Ok(Self::new(name, files, readers, None, head))
    }

    fn new(
        name: FieldName,
        files: FieldFiles,
        readers: Readers,
        writer: Option<Writer>,
        head: Head,
    ) -> Self {
        let writer = writer.map(Mutex::new);
        Self { name, files, readers, writer, published: Mutex::new(head), moved: Condvar::new() }
    }

    fn published(&self) -> MutexGuard<'_, Head> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn writer(&self) -> Result<MutexGuard<'_, Writer>, EngineError> {
        let Some(writer) = &self.writer else {
            let source = OpenError::ReadOnly { dir: self.files.dir.clone() };
            return Err(EngineError::io(format!("write to field {}", self.name), source));
        };
        writer.lock().map_err(|_| EngineError::Poisoned {
            reason: "a thread panicked while it was writing".to_owned(),
        })
    }

    /// Whether no write has failed in a way that requires the operator to reopen the engine.
    pub(super) fn is_sound(&self) -> bool {
        let sound = |writer: &Mutex<Writer>| writer.lock().is_ok_and(|it| it.poisoned.is_none());
        self.writer.as_ref().is_none_or(sound)
    }

    pub(super) fn head(&self) -> Result<Head, EngineError> {
        if self.writer.is_none() {
            return self.readers.with(rows::head);
        }
        Ok(*self.published())
    }

    /// `end` is the head after `batch`, which has been checked to be a chain from `expected`.
    pub(super) fn append(
        &self,
        expected: &Head,
        batch: &[Commit],
        end: Head,
    ) -> Result<Head, EngineError> {
        let writer = self.writer()?;
        writer.check_writable()?;
        if writer.sealed {
            return Err(EngineError::Sealed { field: self.name.clone() });
        }
        self.write(writer, expected, batch, end, false)
    }

    /// As `append`, to a sealed field or to one without commits, which is then sealed.
    pub(super) fn receive(
        &self,
        expected: &Head,
        batch: &[Commit],
        end: Head,
    ) -> Result<Head, EngineError> {
        let writer = self.writer()?;
        writer.check_writable()?;
        if !writer.sealed && writer.head != Head::EMPTY {
            return Err(not_sealed(&self.name, expected));
        }
        self.write(writer, expected, batch, end, true)
    }

    fn write(
        &self,
        mut writer: MutexGuard<'_, Writer>,
        expected: &Head,
        batch: &[Commit],
        end: Head,
        sealed: bool,
    ) -> Result<Head, EngineError> {
        if writer.head != *expected {
            return Err(EngineError::HeadMoved { actual: writer.head });
        }
        writer.append(batch, end, sealed)?;
        // Still under the writer's lock, so that the head never goes back.
        *self.published() = end;
        drop(writer);
        self.moved.notify_all();
        Ok(end)
    }

    pub(super) fn read(&self, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        let to = self.end();
        self.readers.with(|connection| rows::read(connection, from, to, limit))
    }

    pub(super) fn read_headers(
        &self,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        let to = self.end();
        self.readers.with(|connection| rows::read_headers(connection, from, to, limit))
    }

    pub(super) fn read_bodies(
        &self,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredBodies>, EngineError> {
        let to = self.end();
        self.readers.with(|connection| rows::read_bodies(connection, from, to, limit))
    }

    /// The last position that may be read.
    fn end(&self) -> u64 {
        if self.writer.is_some() { self.published().position } else { u64::MAX }
    }

    pub(super) fn follow(
        &self,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        if self.writer.is_none() {
            return self.poll(from, timeout, limit);
        }
        drop(
            self.moved
                .wait_timeout_while(self.published(), timeout, |head| head.position < from)
                .unwrap_or_else(PoisonError::into_inner),
        );
        self.read(from, limit)
    }

    // No writer in this process would wake us.
    fn poll(&self, from: u64, timeout: Duration, limit: usize) -> Result<Vec<Commit>, EngineError> {
        let mut left = timeout;
        loop {
            let commits = self.read(from, limit)?;
            if !commits.is_empty() || left.is_zero() {
                return Ok(commits);
            }
            let pause = left.min(POLL);
            drop(
                self.moved
                    .wait_timeout(self.published(), pause)
                    .unwrap_or_else(PoisonError::into_inner),
            );
            left = left.saturating_sub(pause);
        }
    }

    pub(super) fn erase(&self, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        let mut writer = self.writer()?;
        writer.check_writable()?;
        let erasure =
            writer.transact("erase bodies", |connection| erase::erase(connection, bodies))?;
        // Also if nothing was left to erase: an earlier call may have failed before this.
        match schema::checkpoint_truncate(&writer.connection) {
            Ok(true) => Ok(erasure),
            Ok(false) => Err(EngineError::io(
                "empty the write-ahead log after erasing",
                "a reader outside this process holds it; erase again later",
            )),
            Err(error) => Err(writer.failed("empty the write-ahead log", error)),
        }
    }

    pub(super) fn seal(&self) -> Result<Head, EngineError> {
        let mut writer = self.writer()?;
        if !writer.sealed {
            writer.check_writable()?;
            writer.seal(&self.name)?;
        }
        Ok(writer.head)
    }

    pub(super) fn is_sealed(&self) -> Result<bool, EngineError> {
        match &self.writer {
            Some(_) => Ok(self.writer()?.sealed),
            None => self.readers.with(|connection| {
                let head = rows::head(connection)?;
                read_sealed(connection, &head)
            }),
        }
    }

    pub(super) fn unseal(&self) -> Result<Head, EngineError> {
        let mut writer = self.writer()?;
        if writer.sealed {
            writer.check_writable()?;
            writer.unseal(&self.name)?;
        }
        Ok(writer.head)
    }
}

// An empty log is new only if no commit was ever acknowledged.
fn missing_unless_new(mark: Option<Mark>) -> Result<(), Damage> {
    match mark {
        None => Ok(()),
        Some(mark) => {
            let kind = DamageKind::Truncated { ends_at: 0, acknowledged: mark.position };
            Err(Damage::new(1, kind))
        }
    }
}

fn create_files(files: &FieldFiles, mark: Option<Mark>) -> Result<(), EngineError> {
    if files.log.exists() {
        return Ok(());
    }
    missing_unless_new(mark)?;
    make_dir(&files.dir).map_err(io("create", &files.dir))?;
    if let Some(fields) = files.dir.parent() {
        sync_dir(fields).map_err(io("sync", fields))?;
    }
    // Created here, because SQLite gives its other files the permissions of this one.
    match private_file(OpenOptions::new().write(true).create_new(true), &files.log) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(io("create", &files.log)(e)),
    }
}
