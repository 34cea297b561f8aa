//! The engine that keeps everything in memory, for tests.
//! The same contract as the others, except that nothing outlives the process.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    commit::{BodyContent, Commit, Head},
    engine::{
        BodyAddress, Engine, EngineError, Erasure, Note, Notes, READ_BYTES_MAX, check_batch,
        check_note, not_sealed,
    },
    field_name::FieldName,
};

/// An engine without files.
#[derive(Debug, Default)]
pub struct MemoryEngine {
    logs: Mutex<BTreeMap<FieldName, Log>>,
    grown: Condvar,
    notes: Mutex<BTreeMap<String, Note>>,
    shared: bool,
}

#[derive(Debug, Default)]
struct Log {
    commits: Vec<Commit>,
    sealed: bool,
}

impl Log {
    fn head(&self) -> Head {
        self.commits.last().map_or(Head::EMPTY, Commit::head)
    }

    fn read(&self, from: u64, limit: usize) -> Vec<Commit> {
        let skip = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let page = self.commits.iter().skip(skip).take(limit).take_while(|commit| {
            let room = bytes < READ_BYTES_MAX;
            bytes += commit.stored_bytes();
            room
        });
        page.cloned().collect()
    }

    fn erase_one(&mut self, address: BodyAddress) -> Option<usize> {
        let index = usize::try_from(address.position.checked_sub(1)?).ok()?;
        let commit = self.commits.get_mut(index)?;
        let stored = commit.bodies.iter_mut().find(|stored| stored.event == address.event)?;
        match std::mem::replace(&mut stored.content, BodyContent::Erased) {
            BodyContent::Present(body) => Some(body.json.len()),
            BodyContent::Erased => None,
        }
    }
}

fn existing<'a>(
    logs: &'a mut BTreeMap<FieldName, Log>,
    field: &FieldName,
) -> Result<&'a mut Log, EngineError> {
    logs.get_mut(field).ok_or_else(|| EngineError::UnknownField { field: field.clone() })
}

/// Appends a batch after the head that it expects.
fn extend<'a>(
    logs: &'a mut BTreeMap<FieldName, Log>,
    field: &FieldName,
    expected: &Head,
    batch: &[Commit],
) -> Result<&'a mut Log, EngineError> {
    let actual = logs.get(field).map_or(Head::EMPTY, Log::head);
    if actual != *expected {
        return Err(EngineError::HeadMoved { actual });
    }
    let log = logs.entry(field.clone()).or_default();
    log.commits.extend_from_slice(batch);
    Ok(log)
}

impl MemoryEngine {
    /// An engine without fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An engine without fields that several nodes of one process append to.
    #[must_use]
    pub fn shared() -> Self {
        Self { shared: true, ..Self::default() }
    }

    // A panic cannot leave the map half changed: every change below is a single step.
    fn logs(&self) -> MutexGuard<'_, BTreeMap<FieldName, Log>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for MemoryEngine {
    fn fields(&self) -> Result<Vec<FieldName>, EngineError> {
        Ok(self.logs().keys().cloned().collect())
    }

    fn head(&self, field: &FieldName) -> Result<Head, EngineError> {
        Ok(self.logs().get(field).map_or(Head::EMPTY, Log::head))
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        let head = check_batch(expected, batch)?;
        let mut logs = self.logs();
        if logs.get(field).is_some_and(|log| log.sealed) {
            return Err(EngineError::Sealed { field: field.clone() });
        }
        extend(&mut logs, field, expected, batch)?;
        drop(logs);
        self.grown.notify_all();
        Ok(head)
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        Ok(existing(&mut self.logs(), field)?.read(from, limit))
    }

    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        let mut logs = self.logs();
        existing(&mut logs, field)?;
        let (mut logs, _) = self
            .grown
            .wait_timeout_while(logs, timeout, |logs| {
                logs.get(field).is_some_and(|log| log.head().position < from)
            })
            .unwrap_or_else(PoisonError::into_inner);
        Ok(existing(&mut logs, field)?.read(from, limit))
    }

    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        let mut logs = self.logs();
        let log = existing(&mut logs, field)?;
        let mut done = Erasure::default();
        for bytes in bodies.iter().filter_map(|address| log.erase_one(*address)) {
            done.bodies_erased += 1;
            done.bytes_reclaimed += u64::try_from(bytes).unwrap_or(u64::MAX);
        }
        Ok(done)
    }

    fn seal(&self, field: &FieldName) -> Result<Head, EngineError> {
        let mut logs = self.logs();
        let log = existing(&mut logs, field)?;
        log.sealed = true;
        Ok(log.head())
    }

    fn is_sealed(&self, field: &FieldName) -> Result<bool, EngineError> {
        Ok(self.logs().get(field).is_some_and(|log| log.sealed))
    }

    fn receive(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        let head = check_batch(expected, batch)?;
        let mut logs = self.logs();
        if logs.get(field).is_some_and(|log| !log.sealed) {
            return Err(not_sealed(field, expected));
        }
        extend(&mut logs, field, expected, batch)?.sealed = true;
        drop(logs);
        self.grown.notify_all();
        Ok(head)
    }

    fn unseal(&self, field: &FieldName) -> Result<Head, EngineError> {
        let mut logs = self.logs();
        let log = existing(&mut logs, field)?;
        log.sealed = false;
        Ok(log.head())
    }

    fn notes(&self) -> Option<&dyn Notes> {
        self.shared.then_some(self as &dyn Notes)
    }

    fn is_shared(&self) -> bool {
        self.shared
    }
}

impl Notes for MemoryEngine {
    fn get(&self, name: &str) -> Result<Option<Note>, EngineError> {
        Ok(self.notes.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned())
    }

    fn put(&self, name: &str, expected: u64, bytes: &[u8]) -> Result<Option<u64>, EngineError> {
        check_note(name, bytes)?;
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.get(name).map_or(0, |note| note.version) != expected {
            return Ok(None);
        }
        let version = expected + 1;
        notes.insert(name.to_owned(), Note { version, bytes: bytes.to_vec() });
        Ok(Some(version))
    }
}
