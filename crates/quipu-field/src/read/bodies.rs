//! Reads the free text of units and conflicts from the log, and keeps the recent ones in memory. The
//! state never holds text; this is where answers get theirs.

use quipu_core::outline::Texts;
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use quipu_log::{BodyAddress, BodyContent, Commit, Engine, EngineError, FieldName, StoredBody};
use serde::de::DeserializeOwned;

use crate::base::{asker::check_waited_for, limits::BODY_CACHE_BYTES};

/// The bodies of one commit by event. An erased body is not there.
pub(crate) type CommitBodies = Arc<[(u32, Vec<u8>)]>;

#[derive(Debug)]
pub(crate) struct Bodies {
    engine: Arc<dyn Engine>,
    field: FieldName,
    cache: Mutex<Generations>,
}

/// Two generations of entries: when the young one is full it becomes the old one. What is used again
/// is young again. Cheaper than a list of recent use, and as bounded.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<u64, CommitBodies>,
    old: HashMap<u64, CommitBodies>,
    young_bytes: usize,
    /// How often bodies were forgotten. What was read from the log before is not kept after.
    forgotten: u64,
}

impl Generations {
    fn get(&mut self, position: u64) -> Option<CommitBodies> {
        if let Some(found) = self.young.get(&position) {
            return Some(Arc::clone(found));
        }
        let found = self.old.remove(&position)?;
        self.insert(position, Arc::clone(&found));
        Some(found)
    }

    fn insert(&mut self, position: u64, bodies: CommitBodies) {
        let bytes: usize = bodies.iter().map(|(_, json)| json.len() + 64).sum();
        if self.young_bytes + bytes > BODY_CACHE_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        self.young.insert(position, bodies);
    }
}

impl Bodies {
    #[must_use]
    pub(crate) fn new(engine: Arc<dyn Engine>, field: FieldName) -> Self {
        Self { engine, field, cache: Mutex::default() }
    }

    pub(crate) fn source(&self) -> (&dyn Engine, &FieldName) {
        (self.engine.as_ref(), &self.field)
    }

    fn of_commit(&self, position: u64) -> Result<CommitBodies, EngineError> {
        check_waited_for()?;
        let forgotten = {
            let mut cache = self.lock();
            if let Some(found) = cache.get(position) {
                return Ok(found);
            }
            cache.forgotten
        };
        let found = self.engine.read_bodies(&self.field, position, 1)?;
        let found = found.into_iter().find(|bodies| bodies.position == position);
        let bodies = present(found.map(|found| found.bodies).unwrap_or_default());
        let mut cache = self.lock();
        if cache.forgotten == forgotten {
            cache.insert(position, Arc::clone(&bodies));
        }
        Ok(bodies)
    }

    /// Keeps the texts of commits that were just published, where the log is on a server: whoever needs one of them
    /// next would have to ask for it. What is purged is purged by a later commit, and forgotten after that.
    pub(crate) fn remember(&self, commits: &[Commit]) {
        if !self.engine.is_shared() {
            return;
        }
        let mut cache = self.lock();
        for commit in commits.iter().filter(|commit| !commit.bodies.is_empty()) {
            cache.insert(commit.position, present(commit.bodies.clone()));
        }
    }

    /// How many bytes of text there are at some places, as far as they are not erased.
    pub(crate) fn bytes_of(&self, places: &BTreeSet<BodyAddress>) -> Result<u64, EngineError> {
        let mut bytes = 0;
        for place in places {
            let bodies = self.of_commit(place.position)?;
            let text = bodies.iter().find(|(event, _)| *event == place.event);
            bytes += text.map_or(0, |(_, json)| u64::try_from(json.len()).unwrap_or(u64::MAX));
        }
        Ok(bytes)
    }

    /// Drops everything that is kept in memory, because some of it was erased.
    pub(crate) fn forget(&self) {
        let mut cache = self.lock();
        *cache = Generations { forgotten: cache.forgotten + 1, ..Generations::default() };
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Texts for Bodies {
    type Error = EngineError;

    fn load<T: DeserializeOwned>(
        &self,
        position: u64,
        event: u32,
    ) -> Result<Option<T>, EngineError> {
        let bodies = self.of_commit(position)?;
        let json = bodies.iter().find(|(at, _)| *at == event).map(|(_, json)| json.as_slice());
        json.map(|json| decode_body(position, json)).transpose()
    }
}

fn present(bodies: Vec<StoredBody>) -> CommitBodies {
    let present = bodies.into_iter().filter_map(|stored| match stored.content {
        BodyContent::Present(body) => Some((stored.event, body.json)),
        BodyContent::Erased => None,
    });
    present.collect()
}

/// Reads a body that the log verified.
pub(crate) fn decode_body<T: DeserializeOwned>(
    position: u64,
    json: &[u8],
) -> Result<T, EngineError> {
    Ok(quipu_log::decode_body(position, json)?)
}
