//! The keys of one data directory, as a running server and the command line share them: whoever makes
//! or revokes a key replaces the file, and the server notices within half a second.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
};

use quipu_wire::{limits::AUTHORITY_MAX, reader::check_id};

use super::{
    file::KeyFile,
    key::{Credential, IssuedKey, KeyAgent, KeyInfo, NewKey, StoredKey, id_within},
};
use crate::{
    clock::unix_ms,
    file_watch::{Pace, Stamp},
    ids,
};

/// Why keys could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// The file cannot be read.
    #[error("cannot read the keys in {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the keys to {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The key would speak for nobody that could exist.
    #[error("agent {agent:?} {problem}")]
    Agent {
        /// The refused name.
        agent: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The key would be above all authority.
    #[error("authority {authority} is not from 0 to {AUTHORITY_MAX}")]
    Authority {
        /// The refused authority.
        authority: u8,
    },
}

/// The keys of one data directory.
#[derive(Debug)]
pub struct KeyStore {
    file: KeyFile,
    table: RwLock<Table>,
    pace: Pace,
}

#[derive(Debug, Default)]
struct Table {
    stamp: Stamp,
    keys: HashMap<String, StoredKey>,
}

impl KeyStore {
    /// The data directory.
    pub(crate) fn directory(&self) -> &Path {
        self.file.directory()
    }

    /// Opens the keys of a data directory; there may be none yet.
    pub fn open(data_dir: &Path) -> Result<Self, KeyStoreError> {
        let store =
            Self { file: KeyFile::new(data_dir), table: RwLock::default(), pace: Pace::new() };
        store.reload()?;
        Ok(store)
    }

    /// Makes a key. The secret that comes back is the only copy there will ever be.
    pub fn create(&self, new: NewKey) -> Result<IssuedKey, KeyStoreError> {
        check(&new)?;
        let mut issued = None;
        self.change(|keys| {
            let is_taken = |id: &String| keys.iter().any(|key| key.info.id == *id);
            let mut id = ids::key_id();
            while is_taken(&id) {
                id = ids::key_id();
            }
            let (key, secret) = StoredKey::issue(id, new, unix_ms());
            issued = Some(IssuedKey { info: key.info.clone(), secret });
            keys.push(key);
            true
        })?;
        Ok(issued.expect("a change that succeeded was made"))
    }

    /// All keys, the revoked ones too, in the order of their making.
    pub fn list(&self) -> Result<Vec<KeyInfo>, KeyStoreError> {
        let keys = self.file.read().map_err(|source| self.unread(source))?;
        Ok(keys.into_iter().map(|key| key.info).collect())
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

    /// What the bearer of this secret may do; nothing where it is no valid key's.
    #[must_use]
    pub fn authenticate(&self, bearer: &str) -> Option<Credential> {
        if self.pace.is_due() {
            self.refresh();
        }
        let id = id_within(bearer)?;
        if let Some(credential) = self.look_up(id, bearer) {
            return Some(credential);
        }
        // The key may have been made a moment ago by another process.
        if self.refresh() { self.look_up(id, bearer) } else { None }
    }

    fn look_up(&self, id: &str, bearer: &str) -> Option<Credential> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let key = table.keys.get(id)?;
        let good = key.is_opened_by(bearer) && key.info.revoked_at_ms.is_none();
        good.then(|| key.credential())
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

    fn reload(&self) -> Result<(), KeyStoreError> {
        // Stamp first: a change in between is then noticed at the next look.
        let stamp = Stamp::of(self.file.path()).map_err(|source| self.unread(source))?;
        let keys = self.file.read().map_err(|source| self.unread(source))?;
        let keys = keys.into_iter().map(|key| (key.info.id.clone(), key)).collect();
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = Table { stamp, keys };
        Ok(())
    }

    fn change(
        &self,
        edit: impl FnOnce(&mut Vec<StoredKey>) -> bool,
    ) -> Result<bool, KeyStoreError> {
        let unwritten = |source| KeyStoreError::Write { path: self.file.path().to_owned(), source };
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

    fn unread(&self, source: io::Error) -> KeyStoreError {
        KeyStoreError::Read { path: self.file.path().to_owned(), source }
    }
}

fn check(new: &NewKey) -> Result<(), KeyStoreError> {
    if new.authority > AUTHORITY_MAX {
        return Err(KeyStoreError::Authority { authority: new.authority });
    }
    let KeyAgent::Named(agent) = &new.agent else { return Ok(()) };
    let refuse = |problem: String| KeyStoreError::Agent { agent: agent.clone(), problem };
    match agent.as_str() {
        "*" => Err(refuse("stands for any agent and is no name".to_owned())),
        "system" => Err(refuse("is the Field's own name".to_owned())),
        name => check_id(name).map_err(refuse),
    }
}
