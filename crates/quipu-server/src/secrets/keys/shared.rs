//! Keys that several nodes share: looked at by a thread of their own, because a request must not wait for the log's
//! storage. While that cannot be read, the keys that were known stay good for a while.

use std::{
    sync::{Arc, Mutex, PoisonError, RwLock, Weak},
    thread,
    time::Duration,
};

use quipu_log::EngineError;

use super::{
    document,
    key::StoredKey,
    note::KeyNote,
    store::{KeyStoreError, Table},
};
use crate::{
    clock::Stopwatch,
    limits::{KEYS_SHARED_CHECK, KEYS_SILENCE, KEYS_START_WAIT},
};

/// How often a change begins anew because somebody else made one.
const TRIES: usize = 64;

/// The note of keys, and when it was read last.
#[derive(Debug)]
pub(super) struct SharedKeys {
    pub(super) note: KeyNote,
    table: Arc<RwLock<Table>>,
    read: RwLock<Stopwatch>,
    /// Held while they are read, so that what was read first is not put in place last.
    turn: Mutex<()>,
}

impl SharedKeys {
    /// Reads the keys, and again every moment as long as this is held.
    pub(super) fn follow(
        note: KeyNote,
        table: Arc<RwLock<Table>>,
    ) -> Result<Arc<Self>, KeyStoreError> {
        let (read, turn) = (RwLock::new(Stopwatch::start()), Mutex::default());
        let shared = Arc::new(Self { note, table, read, turn });
        shared.await_first().map_err(KeyStoreError::ReadShared)?;
        let watched = Arc::downgrade(&shared);
        thread::Builder::new()
            .name("quipu-keys".to_owned())
            .spawn(move || watch(&watched))
            .map_err(KeyStoreError::Thread)?;
        Ok(shared)
    }

    /// Reads them for the first time. As after a power cut, the log's servers may still be looking for each other: those who do
    /// not answer are waited for, and those who refuse are believed.
    fn await_first(&self) -> Result<(), EngineError> {
        let begun = Stopwatch::start();
        loop {
            let asked = Stopwatch::start();
            match self.reload() {
                Err(error)
                    if asked.elapsed() >= KEYS_SILENCE && begun.elapsed() < KEYS_START_WAIT =>
                {
                    let error = quipu_field::with_causes(&error);
                    tracing::warn!(error, "the log does not answer yet: waiting for it");
                }
                read => return read,
            }
        }
    }

    /// How long the keys have not been read.
    pub(super) fn unread_for(&self) -> Duration {
        self.read.read().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    pub(super) fn reload(&self) -> Result<(), EngineError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = Stopwatch::start();
        let (_, keys) = self.note.read()?;
        self.table.write().unwrap_or_else(PoisonError::into_inner).replace(keys);
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = asked;
        Ok(())
    }

    /// Edits the keys as they are now, whoever else does.
    pub(super) fn change(
        &self,
        mut edit: impl FnMut(&mut Vec<StoredKey>) -> bool,
    ) -> Result<bool, KeyStoreError> {
        for _ in 0..TRIES {
            let (version, mut keys) = self.note.read().map_err(KeyStoreError::ReadShared)?;
            if !edit(&mut keys) {
                return Ok(false);
            }
            if self.note.replace(version, keys).map_err(KeyStoreError::WriteShared)? {
                self.reload().map_err(KeyStoreError::ReadShared)?;
                return Ok(true);
            }
        }
        let source = "other nodes change them again and again".into();
        let action = "write the note of keys".to_owned();
        Err(KeyStoreError::WriteShared(EngineError::Unavailable { action, source }))
    }

    /// Takes over keys that were somewhere else, if no key was ever made here.
    pub(super) fn take_over(&self, keys: &[StoredKey]) -> Result<bool, KeyStoreError> {
        self.change(|ours| ours.is_empty() && document::unite(ours, keys))
    }
}

fn watch(watched: &Weak<SharedKeys>) {
    let mut failing = false;
    loop {
        thread::park_timeout(KEYS_SHARED_CHECK);
        let Some(shared) = watched.upgrade() else { return };
        match shared.reload() {
            Ok(()) if failing => {
                tracing::info!("the keys can be read again");
                failing = false;
            }
            Ok(()) => {}
            Err(error) if !failing => {
                let error = quipu_field::with_causes(&error);
                tracing::error!(error, "the keys cannot be read: those that were known stay good");
                failing = true;
            }
            Err(_) => {}
        }
    }
}
