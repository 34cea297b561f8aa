//! The Fields of one server: opened on first use, each once, all closed together. Which of them are put away
//! while nobody uses them is in `unload.rs`.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use quipu_log::{Engine, EngineError, FieldName};
use tokio::sync::{Mutex as Gate, OnceCell, Semaphore, watch};

use crate::{
    base::{
        failure::with_causes,
        limits::{DEPOT_LAST_WAIT, FIELDS_OPENING_MAX},
        steady::{ClockJumps, Steady},
        turns::Turns,
    },
    field::{
        Field, close::Parting, index_later::await_last_texts, options::FieldOptions,
        unload::Keeping,
    },
};
use quipu_core::Origin;

#[derive(Debug)]
pub struct Fields {
    pub(crate) engine: Arc<dyn Engine>,
    /// What each is opened with, but for its own directory.
    pub(crate) template: FieldOptions,
    time: Arc<Steady>,
    directory: Option<PathBuf>,
    pub(crate) keeping: Keeping,
    /// Held for moments only, never while a Field is opened or closed.
    pub(crate) places: Arc<Mutex<BTreeMap<FieldName, Residence>>>,
    /// Places for those who open one.
    opening: Semaphore,
    /// How often one was opened.
    openings: watch::Sender<u64>,
    /// What is remembered of the Fields that were put away.
    pub(crate) away: Arc<Mutex<BTreeMap<FieldName, Parting>>>,
    /// Why Fields could not be opened, the last time it was tried.
    failed: Mutex<BTreeMap<FieldName, FailedOpening>>,
}

#[derive(Debug)]
struct FailedOpening {
    reason: String,
    /// Whether what was missing then may be there now.
    may_pass: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Residence {
    pub(crate) slot: Arc<Slot>,
    pub(crate) used_ms: AtomicU64,
}

/// A Field that is opened by the first who needs it, once its last life has ended.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) field: OnceCell<Arc<Field>>,
    /// Held while the Field is put away.
    pub(crate) gate: Arc<Gate<()>>,
}

impl Fields {
    /// The Fields of an engine, opened with the defaults.
    #[must_use]
    pub fn new(
        engine: Arc<dyn Engine>,
        origin: Arc<dyn Origin>,
        directory: Option<PathBuf>,
    ) -> Self {
        Self::with_options(engine, FieldOptions::new(origin), directory)
    }

    /// The Fields of an engine. With a directory, each keeps its snapshots in
    /// `<directory>/<name>/snapshots`, what proofs need in `<directory>/<name>/proofs`, and the vectors of a
    /// configured model in `<directory>/<name>/vectors`.
    #[must_use]
    pub fn with_options(
        engine: Arc<dyn Engine>,
        template: FieldOptions,
        directory: Option<PathBuf>,
    ) -> Self {
        let time = Arc::new(Steady::new(template.origin, 0));
        let turns = Some(Turns::of_machine(engine.is_shared()));
        Self {
            engine,
            template: FieldOptions { origin: Arc::<Steady>::clone(&time), turns, ..template },
            time,
            directory,
            keeping: Keeping::default(),
            places: Arc::default(),
            opening: Semaphore::new(FIELDS_OPENING_MAX),
            openings: watch::Sender::default(),
            away: Arc::default(),
            failed: Mutex::default(),
        }
    }

    /// How the wall clock of this machine leapt while they were served.
    #[must_use]
    pub fn clock_jumps(&self) -> ClockJumps {
        self.time.jumps()
    }

    /// The same, with another rule of how many stay open for how long.
    #[must_use]
    pub fn keeping(self, keeping: Keeping) -> Self {
        Self { keeping, ..self }
    }

    /// The Field of that name, opened if it is not open, made if there is none. Others that nobody uses are put
    /// away where there are too many.
    pub async fn open(&self, name: &FieldName) -> Result<Arc<Field>, EngineError> {
        if let Some(field) = self.get(name) {
            return Ok(field);
        }
        // Few at a time: each takes a thread, and makes room for itself.
        let _turn = self.opening.acquire().await;
        self.make_room().await;
        let slot = {
            let mut places = self.residences();
            let place = places.entry(name.clone()).or_default();
            self.touch(place);
            Arc::clone(&place.slot)
        };
        let field = slot
            .field
            .get_or_try_init(|| async {
                let closed = slot.gate.lock().await;
                let opened = self.bring_in(name).await;
                drop(closed);
                opened
            })
            .await;
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match field {
            Ok(field) => {
                failed.remove(name);
                self.openings.send_modify(|count| *count += 1);
                Ok(Arc::clone(field))
            }
            Err(error) => {
                let may_pass = matches!(error, EngineError::Unavailable { .. });
                let reason = with_causes(&error);
                failed.insert(name.clone(), FailedOpening { reason, may_pass });
                Err(error)
            }
        }
    }

    async fn bring_in(&self, name: &FieldName) -> Result<Arc<Field>, EngineError> {
        let parting = self.away().get(name).cloned();
        let (engine, of, options) = (Arc::clone(&self.engine), name.clone(), self.options(name));
        let opening = move || Field::open_again(engine, of, options, parting.as_ref());
        let opened = tokio::task::spawn_blocking(opening).await.unwrap_or_else(|error| {
            let action = "open the field".to_owned();
            Err(EngineError::Io { action, source: error.into() })
        });
        // Where it failed, the next attempt goes on from there too.
        if opened.is_ok() {
            self.away().remove(name);
        }
        opened
    }

    fn options(&self, name: &FieldName) -> FieldOptions {
        let within = |part: &str| {
            self.directory.as_ref().map(|directory| directory.join(name.to_string()).join(part))
        };
        FieldOptions {
            snapshots: within("snapshots"),
            proofs: within("proofs"),
            vectors: within("vectors"),
            ..self.template.clone()
        }
    }

    /// The Field of that name if it is open.
    #[must_use]
    pub fn get(&self, name: &FieldName) -> Option<Arc<Field>> {
        let places = self.residences();
        let place = places.get(name)?;
        let field = place.slot.field.get().map(Arc::clone)?;
        self.touch(place);
        Some(field)
    }

    /// The Field of that name if there is one: open already, or with a log.
    pub async fn find(&self, name: &FieldName) -> Result<Option<Arc<Field>>, EngineError> {
        if let Some(field) = self.get(name) {
            return Ok(Some(field));
        }
        if self.was_open(name) || self.has_log(name).await? {
            return self.open(name).await.map(Some);
        }
        Ok(None)
    }

    /// Whether it was put away, or is about to be.
    fn was_open(&self, name: &FieldName) -> bool {
        let leaving = |place: &Residence| place.slot.gate.try_lock().is_err();
        self.away().contains_key(name) || self.residences().get(name).is_some_and(leaving)
    }

    async fn has_log(&self, name: &FieldName) -> Result<bool, EngineError> {
        let (engine, name) = (Arc::clone(&self.engine), name.clone());
        let head = tokio::task::spawn_blocking(move || engine.head(&name)).await;
        let head = head.unwrap_or_else(|error| {
            let action = "look for the field".to_owned();
            Err(EngineError::Io { action, source: error.into() })
        });
        Ok(head? != quipu_log::Head::EMPTY)
    }

    /// Whether other nodes may serve them too.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        self.engine.is_shared()
    }

    #[must_use]
    pub fn opened(&self) -> Vec<Arc<Field>> {
        self.residences()
            .values()
            .filter_map(|place| place.slot.field.get().map(Arc::clone))
            .collect()
    }

    /// Changes when one was opened, for whoever has something to begin in each.
    #[must_use]
    pub fn openings(&self) -> watch::Receiver<u64> {
        self.openings.subscribe()
    }

    /// The Fields that could not be opened when it was last tried, and why.
    #[must_use]
    pub fn failed(&self) -> Vec<(FieldName, String)> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.iter().map(|(name, failed)| (name.clone(), failed.reason.clone())).collect()
    }

    /// Opens those again that could not be opened for want of something that comes back, such as a file handle.
    pub(crate) async fn open_failed(&self) {
        let failed: Vec<FieldName> = {
            let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            let passing = failed.iter().filter(|(_, failed)| failed.may_pass);
            passing.map(|(name, _)| name.clone()).take(FIELDS_OPENING_MAX).collect()
        };
        for name in failed {
            match self.open(&name).await {
                Ok(_) => tracing::info!(field = %name, "a Field can be opened again"),
                // It is tried again at the next look.
                Err(error) => {
                    tracing::debug!(field = %name, %error, "a Field cannot be opened yet")
                }
            }
        }
    }

    /// Closes all of them in order.
    pub async fn close(&self) {
        let slots: Vec<_> =
            self.residences().values().map(|place| Arc::clone(&place.slot)).collect();
        await_last_texts(&self.opened()).await;
        for slot in slots {
            // One that is being put away is closed when that is done.
            drop(slot.gate.lock().await);
            if let Some(field) = slot.field.get() {
                field.close_now().await;
            }
        }
        if let Some(depot) = self.template.depot.clone() {
            let settling = tokio::task::spawn_blocking(move || depot.settle(DEPOT_LAST_WAIT));
            settling.await.ok();
        }
    }

    pub(crate) fn residences(&self) -> MutexGuard<'_, BTreeMap<FieldName, Residence>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn away(&self) -> MutexGuard<'_, BTreeMap<FieldName, Parting>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, place: &Residence) {
        place.used_ms.store(self.template.origin.now_ms(), Ordering::Relaxed);
    }
}
