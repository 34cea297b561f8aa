//! The SQLite engine: a data directory and the fields in it, each opened on first use.
//! What happens inside a field is in `field_log`.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    failure::is_out_of_handles,
    field_log::FieldLog,
    layout::{self, FieldFiles},
    open_error::OpenError,
    options::SqliteOptions,
};
use crate::{
    commit::{Commit, Head, StoredBodies, StoredHeader},
    engine::{BodyAddress, Engine, EngineError, Erasure, check_batch},
    field_name::FieldName,
};

/// The slot of one field: opening it must not hold up the others.
type Slot = Arc<Mutex<Option<Arc<FieldLog>>>>;

#[derive(Debug)]
pub struct SqliteEngine {
    dir: PathBuf,
    options: SqliteOptions,
    slots: Mutex<BTreeMap<FieldName, Slot>>,
    // Dropped last, so that the directory is released only when every database is closed. `None` if it is open for
    // reading only.
    lock: Option<File>,
}

impl SqliteEngine {
    /// Opens a data directory for writing, or makes one.
    ///
    /// # Errors
    /// If another engine has it open, it cannot be written, or a newer version made it.
    pub fn open(dir: &Path, options: SqliteOptions) -> Result<Self, OpenError> {
        let lock = layout::open_for_writing(dir)?;
        Ok(Self::new(dir, options, Some(lock)))
    }

    /// Opens a data directory for reading. Another process may be writing to it meanwhile.
    ///
    /// # Errors
    /// If it is not a data directory, cannot be read, or a newer version made it.
    pub fn open_read_only(dir: &Path) -> Result<Self, OpenError> {
        layout::open_for_reading(dir)?;
        Ok(Self::new(dir, SqliteOptions::default(), None))
    }

    fn new(dir: &Path, options: SqliteOptions, lock: Option<File>) -> Self {
        Self { dir: dir.to_owned(), options, slots: Mutex::default(), lock }
    }

    fn find(&self, field: &FieldName) -> Result<Option<Arc<FieldLog>>, EngineError> {
        let known = self.slots().contains_key(field);
        let files = FieldFiles::new(&self.dir, field);
        if !known && !files.dir.is_dir() {
            return Ok(None);
        }
        self.open_field(field, files).map(Some)
    }

    fn existing(&self, field: &FieldName) -> Result<Arc<FieldLog>, EngineError> {
        self.find(field)?.ok_or_else(|| EngineError::UnknownField { field: field.clone() })
    }

    /// Finds the field for an append at `expected`, or creates it.
    fn found_or_made(
        &self,
        field: &FieldName,
        expected: &Head,
    ) -> Result<Arc<FieldLog>, EngineError> {
        match self.find(field)? {
            Some(log) => Ok(log),
            // Nothing is created for an append that cannot succeed.
            None if *expected != Head::EMPTY => Err(EngineError::HeadMoved { actual: Head::EMPTY }),
            None if self.lock.is_none() => {
                let source = OpenError::ReadOnly { dir: self.dir.clone() };
                Err(EngineError::io(format!("create field {field}"), source))
            }
            None => self.open_field(field, FieldFiles::new(&self.dir, field)),
        }
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, BTreeMap<FieldName, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_field(
        &self,
        field: &FieldName,
        files: FieldFiles,
    ) -> Result<Arc<FieldLog>, EngineError> {
        let slot = Arc::clone(self.slots().entry(field.clone()).or_default());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = &*slot {
            return Ok(Arc::clone(log));
        }
        let log = match self.lock {
            Some(_) => FieldLog::open(field.clone(), files, self.options),
            None => FieldLog::open_read_only(field.clone(), files),
        };
        let log =
            log.map_err(
                |error| {
                    if is_out_of_handles(&error) { nothing_written(error) } else { error }
                },
            )?;
        Ok(Arc::clone(slot.insert(Arc::new(log))))
    }

    #[cfg(test)]
    pub(super) fn fail_next_commit(&self, field: &FieldName, code: i32) {
        let log = self.existing(field).expect("the field exists");
        log.writer().expect("the writer is free").fail_next_commit = Some(code);
    }
}

/// The error of an append that did not begin, because its log could not be opened: it may be tried again.
fn nothing_written(error: EngineError) -> EngineError {
    if let EngineError::Io { action, source } = error {
        return EngineError::Unavailable { action, source };
    }
    error
}

impl Engine for SqliteEngine {
    fn fields(&self) -> Result<Vec<FieldName>, EngineError> {
        let dir = self.dir.join("fields");
        let failed = |e| EngineError::io(format!("list {}", dir.display()), e);
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed(e)),
        };
        let mut fields = Vec::new();
        for entry in entries {
            // A folder whose name is no field name was not made by this engine.
            let entry = entry.map_err(failed)?;
            if entry.path().is_dir() {
                let name = entry.file_name();
                fields.extend(name.to_str().and_then(|name| FieldName::try_from(name).ok()));
            }
        }
        fields.sort();
        Ok(fields)
    }

    fn head(&self, field: &FieldName) -> Result<Head, EngineError> {
        match self.find(field) {
            Ok(Some(log)) => log.head(),
            Ok(None) | Err(EngineError::UnknownField { .. }) => Ok(Head::EMPTY),
            Err(error) => Err(error),
        }
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        let end = check_batch(expected, batch)?;
        let log = self.found_or_made(field, expected).map_err(nothing_written)?;
        log.append(expected, batch, end)
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        self.existing(field)?.read(from, limit)
    }

    fn read_headers(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        self.existing(field)?.read_headers(from, limit)
    }

    fn read_bodies(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredBodies>, EngineError> {
        self.existing(field)?.read_bodies(from, limit)
    }

    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        self.existing(field)?.follow(from, timeout, limit)
    }

    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        self.existing(field)?.erase(bodies)
    }

    fn seal(&self, field: &FieldName) -> Result<Head, EngineError> {
        self.existing(field)?.seal()
    }

    fn is_sealed(&self, field: &FieldName) -> Result<bool, EngineError> {
        match self.find(field) {
            Ok(Some(log)) => log.is_sealed(),
            Ok(None) | Err(EngineError::UnknownField { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn receive(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        let end = check_batch(expected, batch)?;
        let log = self.found_or_made(field, expected).map_err(nothing_written)?;
        log.receive(expected, batch, end)
    }

    fn unseal(&self, field: &FieldName) -> Result<Head, EngineError> {
        self.existing(field)?.unseal()
    }

    fn release(&self, field: &FieldName) {
        let Some(slot) = self.slots().get(field).map(Arc::clone) else { return };
        // Others that want the field wait for the slot and open it again.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = |log: &Arc<FieldLog>| Arc::strong_count(log) == 1 && log.is_sound();
        if slot.as_ref().is_some_and(unused) {
            *slot = None;
        }
    }
}
