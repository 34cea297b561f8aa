//! The keys as a running server and the command line share them: whoever makes or revokes a key replaces the
//! document that holds them, and every server notices within half a second. They are in a file of the data directory, or,
//! where several nodes share a log, in a note beside it.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use quipu_log::{Engine, EngineError, Notes};
use quipu_wire::{
    json::reader::{Problem, check_id},
    limits::AUTHORITY_MAX,
};
use tokio::sync::watch;

use super::{
    document,
    file::KeyFile,
    key::{Credential, IssuedKey, KeyAgent, KeyInfo, NewKey, StoredKey, id_within},
    note::KeyNote,
    passing::PassingKeys,
    shared::SharedKeys,
};
use crate::{
    clock::unix_ms,
    ids,
    limits::KEYS_UNREAD_MAX,
    secrets::file_watch::{Pace, Stamp},
};

#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    #[error("cannot read the keys in {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write the keys to {path}")]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot read the keys beside the log")]
    ReadShared(#[source] EngineError),
    #[error("cannot write the keys beside the log")]
    WriteShared(#[source] EngineError),
    #[error("cannot start the thread that reads the keys again")]
    Thread(#[source] io::Error),
    #[error("agent {agent:?} {problem}")]
    Agent {
        agent: String,
        /// What is wrong with it.
        problem: Problem,
    },
    #[error("role {role:?} {problem}")]
    Role {
        role: String,
        /// What is wrong with it.
        problem: Problem,
    },
    #[error("authority {authority} is not from 0 to {AUTHORITY_MAX}")]
    Authority { authority: u8 },
}

/// The keys of one server, or of all nodes over one log.
#[derive(Debug)]
pub struct KeyStore {
    file: KeyFile,
    shared: Option<Arc<SharedKeys>>,
    passing: PassingKeys,
    table: Arc<RwLock<Table>>,
    pace: Pace,
    unread_max: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    stamp: Stamp,
    keys: HashMap<String, StoredKey>,
    /// How often they changed, for those who want to know at once.
    changes: watch::Sender<u64>,
}

impl Table {
    pub(super) fn replace(&mut self, keys: Vec<StoredKey>) {
        let keys = keys.into_iter().map(|key| (key.info.id.clone(), key)).collect();
        if self.keys != keys {
            self.keys = keys;
            self.changes.send_modify(|changes| *changes += 1);
        }
    }
}

impl KeyStore {
    pub(crate) fn directory(&self) -> &Path {
        self.file.directory()
    }

    /// What all nodes share beside the keys; none where the keys are in a file.
    pub(crate) fn notes(&self) -> Option<&dyn Notes> {
        self.shared.as_ref().map(|shared| shared.note.notes())
    }

    /// Opens the keys of a data directory; there may be none yet.
    pub fn open(data_dir: &Path) -> Result<Self, KeyStoreError> {
        let store = Self::new(data_dir);
        store.reload()?;
        Ok(store)
    }

    /// Opens the keys beside a log that several nodes share; where they share none, those of the data directory.
    pub fn beside(engine: Arc<dyn Engine>, data_dir: &Path) -> Result<Self, KeyStoreError> {
        let mut store = Self::new(data_dir);
        let Some(note) = KeyNote::beside(engine) else { return Self::open(data_dir) };
        store.shared = Some(SharedKeys::follow(note, Arc::clone(&store.table))?);
        Ok(store)
    }

    /// Takes the keys of the data directory over, once, if no key was ever made beside the log.
    pub fn take_over(&self) -> Result<(), KeyStoreError> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let own = self.file.read().map_err(|source| self.unread(source))?;
        if own.is_empty() {
            return Ok(());
        }
        shared.take_over(&own)?;
        let known = |key: &StoredKey| self.list_has(&key.info.id);
        let path = self.file.path().display();
        if own.iter().all(known) {
            tracing::info!(keys = own.len(), %path, "the keys are beside the log from now on");
            return self.file.put_away().map_err(|source| self.unwritten(source));
        }
        tracing::warn!(%path, "these keys are not used: there are others beside the log");
        Ok(())
    }

    fn list_has(&self, id: &str) -> bool {
        self.table.read().unwrap_or_else(PoisonError::into_inner).keys.contains_key(id)
    }

    fn new(data_dir: &Path) -> Self {
        let (file, table) = (KeyFile::new(data_dir), Arc::default());
        let (passing, unread_max) = (PassingKeys::default(), KEYS_UNREAD_MAX);
        Self { file, shared: None, passing, table, pace: Pace::new(), unread_max }
    }

    /// Believes keys that nodes share for so long while they cannot be read, instead of five minutes.
    #[must_use]
    pub const fn believing_for(mut self, unread_max: Duration) -> Self {
        self.unread_max = unread_max;
        self
    }

    /// From now on, keys that are made or revoked here are so until this process ends, and nowhere else: for a server
    /// that asks nobody for a key.
    pub(crate) fn keep_changes_in_memory(&self) {
        self.passing.begin();
    }

    /// Adds the keys of another store to this one's. A key that is in both is revoked if either says so.
    pub fn add_all(&self, from: &Self) -> Result<bool, KeyStoreError> {
        let others = from.read()?;
        self.change(|keys| document::unite(keys, &others))
    }

    /// Makes a key. The secret that comes back is the only copy there will ever be.
    pub fn create(&self, new: NewKey) -> Result<IssuedKey, KeyStoreError> {
        self.create_if(new, |_| true)
            .map(|issued| issued.expect("a change that succeeded was made"))
    }

    /// Makes a key if there was never any. Of several nodes that start at once one makes it.
    pub fn create_first(&self, new: NewKey) -> Result<Option<IssuedKey>, KeyStoreError> {
        self.create_if(new, <[StoredKey]>::is_empty)
    }

    fn create_if(
        &self,
        new: NewKey,
        wanted: impl Fn(&[StoredKey]) -> bool,
    ) -> Result<Option<IssuedKey>, KeyStoreError> {
        check(&new)?;
        // More than once, where another node changes the keys meanwhile.
        let issue = move |id| StoredKey::issue(id, new.clone(), unix_ms());
        let mut issued = None;
        let made = self.change(|keys| {
            if !wanted(keys) {
                return false;
            }
            let is_taken = |id: &String| keys.iter().any(|key| key.info.id == *id);
            let mut id = ids::key_id();
            while is_taken(&id) {
                id = ids::key_id();
            }
            let (key, secret) = issue(id);
            issued = Some(IssuedKey { info: key.info.clone(), secret });
            keys.push(key);
            true
        })?;
        Ok(issued.filter(|_| made))
    }

    /// All keys, the revoked ones too, in the order of their making.
    pub fn list(&self) -> Result<Vec<KeyInfo>, KeyStoreError> {
        Ok(self.read()?.into_iter().map(|key| key.info).collect())
    }

    fn read(&self) -> Result<Vec<StoredKey>, KeyStoreError> {
        Ok(self.passing.over(self.stored()?))
    }

    fn stored(&self) -> Result<Vec<StoredKey>, KeyStoreError> {
        match &self.shared {
            Some(shared) => Ok(shared.note.read().map_err(KeyStoreError::ReadShared)?.1),
            None => self.file.read().map_err(|source| self.unread(source)),
        }
    }

    /// Revokes a key. False where there is no such key, or it was revoked before.
    pub fn revoke(&self, id: &str) -> Result<bool, KeyStoreError> {
        let now = unix_ms();
        self.change(|keys| {
            let mut live = keys.iter_mut().filter(|key| key.info.revoked_at_ms.is_none());
            let Some(key) = live.find(|key| key.info.id == id) else { return false };
            key.info.revoked_at_ms = Some(now);
            true
        })
    }

    /// Whether no key was ever made. Where all keys are revoked, it is not empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.read().unwrap_or_else(PoisonError::into_inner).keys.is_empty()
    }

    /// Whether the keys were read lately enough to be believed. Where several nodes share them and their storage is away,
    /// a key that was revoked meanwhile must not stay good for ever.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.shared.as_ref().is_none_or(|shared| shared.unread_for() < self.unread_max)
    }

    /// What the bearer of this secret may do; nothing where it is no valid key's.
    #[must_use]
    pub fn authenticate(&self, bearer: &str) -> Option<Credential> {
        if self.shared.is_some() {
            // A thread of their own looks at them: no request waits for that.
            return if self.is_fresh() {
                self.find_credential(id_within(bearer)?, bearer)
            } else {
                None
            };
        }
        if self.pace.is_due() {
            self.refresh();
        }
        let id = id_within(bearer)?;
        if let Some(credential) = self.find_credential(id, bearer) {
            return Some(credential);
        }
        // The key may have been made a moment ago by another process.
        if self.refresh() { self.find_credential(id, bearer) } else { None }
    }

    fn find_credential(&self, id: &str, bearer: &str) -> Option<Credential> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let key = table.keys.get(id)?;
        let good = key.is_opened_by(bearer) && key.info.revoked_at_ms.is_none();
        good.then(|| key.credential())
    }

    /// Tells of every change of the keys from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).changes.subscribe()
    }

    /// Looks whether another process has changed the keys, also while nobody asks.
    pub(crate) fn check_for_changes(&self) {
        // Those that nodes share are looked at by a thread of their own.
        if self.shared.is_none() {
            self.refresh();
        }
    }

    /// Reads the file again if it has changed. A file that cannot be read changes nothing: the keys
    /// that were good stay good, and the operator is told.
    fn refresh(&self) -> bool {
        let known = self.table.read().unwrap_or_else(PoisonError::into_inner).stamp;
        match Stamp::of(self.file.path()) {
            Ok(stamp) if stamp == known => return false,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(%error, path = %self.file.path().display(), "cannot look at the keys");
                return false;
            }
        }
        match self.reload() {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(
                    error = quipu_field::with_causes(&error),
                    "the keys were not reloaded"
                );
                false
            }
        }
    }

    /// Reads the keys of the data directory now, also where the file looks unchanged. Those beside a log that several
    /// nodes share are followed anyway.
    pub fn read_again(&self) -> Result<(), KeyStoreError> {
        if self.shared.is_some() { Ok(()) } else { self.reload() }
    }

    fn reload(&self) -> Result<(), KeyStoreError> {
        // Stamp first: a change in between is then noticed at the next look.
        let stamp = Stamp::of(self.file.path()).map_err(|source| self.unread(source))?;
        let keys = self.file.read().map_err(|source| self.unread(source))?;
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.stamp = stamp;
        table.replace(keys);
        Ok(())
    }

    fn change(
        &self,
        mut edit: impl FnMut(&mut Vec<StoredKey>) -> bool,
    ) -> Result<bool, KeyStoreError> {
        if self.passing.has_begun() {
            let stored = self.stored()?;
            let mut keys = self.passing.over(stored.clone());
            let changed = edit(&mut keys);
            self.passing.keep(&stored, keys);
            tracing::warn!("keys that are made or revoked in --dev are so until it ends");
            return Ok(changed);
        }
        if let Some(shared) = &self.shared {
            return shared.change(edit);
        }
        let unwritten = |source| self.unwritten(source);
        let turn = self.file.lock().map_err(unwritten)?;
        let mut keys = self.file.read().map_err(|source| self.unread(source))?;
        let changed = edit(&mut keys);
        if changed {
            self.file.replace(keys).map_err(unwritten)?;
        }
        drop(turn);
        self.reload()?;
        Ok(changed)
    }

    fn unwritten(&self, source: io::Error) -> KeyStoreError {
        KeyStoreError::Write { path: self.file.path().to_owned(), source }
    }

    fn unread(&self, source: io::Error) -> KeyStoreError {
        KeyStoreError::Read { path: self.file.path().to_owned(), source }
    }
}

fn check(new: &NewKey) -> Result<(), KeyStoreError> {
    if new.authority > AUTHORITY_MAX {
        return Err(KeyStoreError::Authority { authority: new.authority });
    }
    for role in &new.roles {
        let refuse = |problem: Problem| KeyStoreError::Role { role: role.clone(), problem };
        check_id(role).map_err(refuse)?;
    }
    let KeyAgent::Named(agent) = &new.agent else { return Ok(()) };
    let refuse = |problem: Problem| KeyStoreError::Agent { agent: agent.clone(), problem };
    match agent.as_str() {
        "*" => Err(refuse("stands for any agent and is no name".into())),
        "system" => Err(refuse("is the Field's own name".into())),
        name => check_id(name).map_err(refuse),
    }
}
