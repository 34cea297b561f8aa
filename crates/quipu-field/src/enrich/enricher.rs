//! What a Field shares with the thread that fetches second vectors for it (`field/enrich_later.rs`). The thread holds no
//! lock while it waits for the model, and nobody waits for the thread.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use quipu_log::FieldName;
use quipu_recall::{EmbedError, Embedder, Embedding, Space};

use super::{
    query_vectors::QueryVectors,
    vector_file::{Entry, VectorFile, purge_file},
    work::{Work, is_wanted},
};
use crate::{
    base::{failure::with_causes, models::FieldModels},
    read::view::{Published, View},
};
use quipu_core::UnitId;

#[derive(Debug)]
pub(crate) struct Enriching {
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) path: Option<PathBuf>,
    /// Held while vectors are kept or purged, so that none comes back after its text was erased.
    pub(super) file: Mutex<Option<VectorFile>>,
    /// What was asked about recently.
    pub(crate) query_vectors: QueryVectors,
    failure: Mutex<Option<String>>,
    bell: Mutex<Bell>,
    ring: Condvar,
}

#[derive(Debug, Default)]
struct Bell {
    rung: bool,
    stopped: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) ordinal: u32,
    pub(crate) id: UnitId,
    pub(crate) text: String,
}

impl Enriching {
    /// Vectors of the configured model, if there is one, kept in a file where one is named.
    pub(crate) fn new(models: &FieldModels, path: Option<&Path>) -> Option<Arc<Self>> {
        models.embedder.clone().map(|embedder| Arc::new(Self::of(embedder, path)))
    }

    fn of(embedder: Arc<dyn Embedder>, path: Option<&Path>) -> Self {
        Self {
            embedder,
            path: path.map(Path::to_owned),
            file: Mutex::default(),
            query_vectors: QueryVectors::default(),
            failure: Mutex::default(),
            bell: Mutex::default(),
            ring: Condvar::new(),
        }
    }

    /// Why the last attempt gave nothing; none where it worked.
    pub(crate) fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    pub(crate) fn embedder(&self) -> &Arc<dyn Embedder> {
        &self.embedder
    }

    /// Says that there may be a new unit.
    pub(crate) fn wake(&self) {
        lock(&self.bell).rung = true;
        self.ring.notify_one();
    }

    /// Lets the thread end, and keeps nothing from here on.
    pub(crate) fn stop(&self) {
        lock(&self.bell).stopped = true;
        self.ring.notify_all();
        *lock(&self.file) = None;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        lock(&self.bell).stopped
    }

    /// Waits for a new unit, or for a while; with `calls` false only for a while. Answers whether to
    /// go on.
    pub(crate) fn wait(&self, lasting: Duration, calls: bool) -> bool {
        let bell = lock(&self.bell);
        let (mut bell, _) = self
            .ring
            .wait_timeout_while(bell, lasting, |bell| !(bell.stopped || calls && bell.rung))
            .unwrap_or_else(PoisonError::into_inner);
        bell.rung = false;
        !bell.stopped
    }

    pub(crate) fn note(&self, outcome: Option<String>) {
        let mut failure = lock(&self.failure);
        match (&*failure, &outcome) {
            (None, Some(reason)) => tracing::warn!(reason, "vectors are late: the model failed"),
            (Some(_), None) => tracing::info!("the embedding model answers again"),
            (Some(_), Some(_)) | (None, None) => {}
        }
        *failure = outcome;
    }

    /// Puts what the file holds into the index.
    pub(crate) fn load(&self, view: &View, field: &FieldName) {
        let known = Some(self.embedder.dimensions()).filter(|dimensions| *dimensions > 0);
        let mut file = lock(&self.file);
        let Some(entries) = self.open(&mut file, known) else { return };
        let Some(dimensions) = entries.first().map(|(_, vector)| vector.len()) else { return };
        let found = entries.len();
        view.publish(|published| {
            published.index.open_second(self.space(dimensions));
            for (id, vector) in entries {
                if let Some(ordinal) = published.state.units.find(id) {
                    insert(published, ordinal, &vector);
                }
            }
        });
        tracing::info!(%field, vectors = found, "read the vectors of the model");
    }

    fn open(&self, file: &mut Option<VectorFile>, dimensions: Option<usize>) -> Option<Vec<Entry>> {
        let path = self.path.as_ref().filter(|_| file.is_none() && !self.is_stopped())?;
        match VectorFile::open(path, self.embedder.model_id(), dimensions) {
            Ok(opened) => opened.map(|(opened, entries)| {
                *file = Some(opened);
                entries
            }),
            Err(error) => {
                tracing::warn!(path = %path.display(), error = with_causes(&error), "the file of vectors cannot be opened");
                None
            }
        }
    }

    fn space(&self, dimensions: usize) -> Space {
        Space { model: self.embedder.model_id().into(), dimensions, centre: Vec::new() }
    }

    /// Keeps vectors: in the file, and in the index. Leaves out what was erased meanwhile.
    pub(crate) fn keep(&self, view: &View, found: Vec<(&Waiting, Vec<f32>)>) {
        let mut file = lock(&self.file);
        if self.is_stopped() {
            return;
        }
        let found: Vec<(&Waiting, Vec<f32>)> = {
            let published = view.read();
            found.into_iter().filter(|(unit, _)| is_wanted(&published, unit.ordinal)).collect()
        };
        let Some(dimensions) = found.first().map(|(_, vector)| vector.len()) else { return };
        self.open(&mut file, Some(dimensions));
        let entries: Vec<Entry> =
            found.iter().map(|(unit, vector)| (unit.id, vector.clone())).collect();
        if let Some(Err(error)) = file.as_mut().map(|file| file.append(&entries)) {
            tracing::warn!(
                error = with_causes(&error),
                "vectors were not saved; they are made anew"
            );
        }
        view.publish(|published| {
            published.index.open_second(self.space(dimensions));
            for (unit, vector) in &found {
                insert(published, unit.ordinal, vector);
            }
        });
    }

    /// Takes vectors out of the file.
    pub(crate) fn purge(&self, path: &Path, gone: &BTreeSet<UnitId>) -> io::Result<()> {
        let mut file = lock(&self.file);
        // It may be replaced by another one; the next vectors open that.
        *file = None;
        purge_file(path, gone)
    }

    /// Asks for the vectors of a batch. Where the model refuses for good, every text is tried alone, and
    /// those that it refuses although it takes others are put aside.
    pub(crate) fn embed<'a>(
        &self,
        batch: &'a [Waiting],
        work: &mut Work,
    ) -> Result<Vec<(&'a Waiting, Vec<f32>)>, EmbedError> {
        let texts: Vec<&str> = batch.iter().map(|unit| unit.text.as_str()).collect();
        match self.embedder.embed(&texts) {
            Ok(vectors) => return Ok(batch.iter().zip(vectors).collect()),
            Err(error) if error.is_temporary() => return Err(error),
            Err(error) => self.embedder.embed(&["a text"]).map_err(|_| error)?,
        };
        let mut found = Vec::new();
        for unit in batch {
            match self.embedder.embed(&[&unit.text]) {
                Ok(vectors) => found.extend(vectors.into_iter().map(|vector| (unit, vector))),
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => {
                    tracing::warn!(unit = %unit.id, error = with_causes(&error), "no vector for a unit");
                    work.refuse(unit.ordinal);
                }
            }
        }
        Ok(found)
    }
}

fn insert(published: &mut Published, ordinal: u32, vector: &[f32]) {
    published.index.insert_second(ordinal, &Embedding::new([vector]));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
