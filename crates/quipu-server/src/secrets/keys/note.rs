//! The keys that all nodes over one log share: a note beside the log, replaced by whoever knows its version.

use std::sync::Arc;

use quipu_log::{Engine, EngineError, Notes};

use super::{document, key::StoredKey};

const NAME: &str = "keys";

/// Where the keys of several nodes are.
#[derive(Debug)]
pub(super) struct KeyNote {
    engine: Arc<dyn Engine>,
}

impl KeyNote {
    /// The note beside this log; none where the log is one process's own.
    pub(super) fn beside(engine: Arc<dyn Engine>) -> Option<Self> {
        engine.notes().is_some().then_some(Self { engine })
    }

    pub(super) fn notes(&self) -> &dyn Notes {
        self.engine.notes().expect("an engine that had notes has them for good")
    }

    /// The version and all keys; version 0 and none where no key was ever made.
    pub(super) fn read(&self) -> Result<(u64, Vec<StoredKey>), EngineError> {
        let Some(note) = self.notes().get(NAME)? else { return Ok((0, Vec::new())) };
        let keys = document::decode(&note.bytes).map_err(|reason| EngineError::Io {
            action: "read the note of keys".to_owned(),
            source: reason.into(),
        })?;
        Ok((note.version, keys))
    }

    /// Replaces the keys that were read with this version. False where somebody else did it before.
    pub(super) fn replace(&self, version: u64, keys: Vec<StoredKey>) -> Result<bool, EngineError> {
        let bytes = document::encode(keys).map_err(|error| EngineError::Io {
            action: "write the note of keys".to_owned(),
            source: error.into(),
        })?;
        Ok(self.notes().put(NAME, version, &bytes)?.is_some())
    }
}
