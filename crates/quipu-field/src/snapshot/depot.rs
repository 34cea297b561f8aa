//! The snapshots that nodes leave for each other in a storage that all of them reach. A node that has no snapshot of
//! a Field, or an old one, begins with the newest that is there and of its log. A thread of its own brings
//! snapshots there and takes old ones away, for all Fields of a node, one after the other; a storage that is away
//! keeps nobody from anything, and is tried again.
//!
//! ```text
//!   <field>/<position, 20 digits>-<hash of the commit there>.snap
//! ```
//!
//! Nothing there is trusted: a name is compared with the log before it is fetched, and what was fetched is
//! verified like a snapshot of our own.

use std::{
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use quipu_log::{Engine, EngineError, FieldName, Head};

use crate::{
    base::{
        failure::with_causes,
        limits::{DEPOT_RETRY, DEPOT_RETRY_MAX, DEPOT_SNAPSHOTS_KEPT},
    },
    snapshot::{
        depot_queue::{Errand, Queue},
        format::{self, SnapshotDir},
        store::{SnapshotStore, StoreError},
    },
};
use quipu_core::Origin;

/// A storage for snapshots, and the thread that works for it. Clones are the same depot.
#[derive(Debug, Clone)]
pub struct Depot {
    inner: Arc<Inner>,
    /// The thread ends with the last of them.
    _handle: Arc<Handle>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepotCounts {
    /// Snapshots that were brought there.
    pub stored: u64,
    /// Snapshots that were fetched from there to begin with.
    pub fetched: u64,
    pub failures: u64,
    pub is_up: bool,
}

#[derive(Debug)]
struct Inner {
    store: Arc<dyn SnapshotStore>,
    origin: Arc<dyn Origin>,
    queue: Mutex<Queue>,
    /// Something is to be done, or nothing any more.
    bell: Condvar,
    stored: AtomicU64,
    fetched: AtomicU64,
    failures: AtomicU64,
    is_down: AtomicBool,
    failed_ms: AtomicU64,
}

#[derive(Debug)]
struct Handle(Arc<Inner>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.queue().stop();
        self.0.bell.notify_all();
    }
}

/// A snapshot to be brought there.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) field: FieldName,
    pub(crate) file: PathBuf,
    pub(crate) head: Head,
    /// Commits that one there may be behind, so that this one is not worth it.
    pub(crate) close: u64,
}

impl Depot {
    /// A depot in a storage, to which a node brings one snapshot of a Field in an interval at most.
    pub fn new(
        store: Arc<dyn SnapshotStore>,
        origin: Arc<dyn Origin>,
        interval: Duration,
    ) -> std::io::Result<Self> {
        let interval_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        let inner = Arc::new(Inner {
            store,
            origin,
            queue: Mutex::new(Queue::new(interval_ms)),
            bell: Condvar::new(),
            stored: AtomicU64::new(0),
            fetched: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            is_down: AtomicBool::new(false),
            failed_ms: AtomicU64::new(0),
        });
        let worker = Arc::clone(&inner);
        std::thread::Builder::new().name("depot".to_owned()).spawn(move || worker.run())?;
        Ok(Self { _handle: Arc::new(Handle(Arc::clone(&inner))), inner })
    }

    #[must_use]
    pub fn counts(&self) -> DepotCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DepotCounts {
            stored: count(&self.inner.stored),
            fetched: count(&self.inner.fetched),
            failures: count(&self.inner.failures),
            is_up: !self.inner.is_down.load(Ordering::Relaxed),
        }
    }

    /// Brings a snapshot there, in the background. A later one of the same Field takes its place.
    pub(crate) fn offer(&self, offer: Offer) {
        self.inner.queue().offer(offer);
        self.inner.bell.notify_all();
    }

    /// Takes away every snapshot from before a purge, in the background, as often as it takes.
    pub(crate) fn discard_before(&self, field: &FieldName, position: u64) {
        if self.inner.queue().discard(field, position) {
            self.inner.bell.notify_all();
        }
    }

    /// Waits until nothing is left that can be done now, but not for long.
    pub fn settle(&self, patience: Duration) {
        let busy = |queue: &mut Queue| queue.is_busy(self.inner.origin.now_ms());
        let queue = self.inner.queue();
        drop(self.inner.bell.wait_timeout_while(queue, patience, busy));
    }

    /// Fetches the newest snapshot of this log from behind a position into a directory, if there is one.
    pub(crate) fn fetch(
        &self,
        engine: &dyn Engine,
        field: &FieldName,
        behind: u64,
        into: &SnapshotDir,
    ) -> Result<(), EngineError> {
        if self.inner.failed_lately() {
            return Ok(());
        }
        let listed = self.inner.noted(self.inner.store.list(field.as_ref()));
        let Some(names) = listed else { return Ok(()) };
        for name in sorted(&names).into_iter().rev() {
            if name.position <= behind {
                return Ok(());
            }
            if !name.is_of_log(engine, field)? {
                tracing::warn!(%field, snapshot = name.text(), "passing over a stored snapshot of another log");
                continue;
            }
            let path = format!("{field}/{}", name.text());
            let Some(bytes) = self.inner.noted(self.inner.store.get(&path)) else { return Ok(()) };
            match format::check(&bytes).and_then(|head| name.expect(&head)) {
                Err(what) => {
                    tracing::warn!(%field, snapshot = name.text(), what, "passing over a stored snapshot");
                }
                Ok(()) => {
                    self.inner.fetched.fetch_add(1, Ordering::Relaxed);
                    match into.adopt(name.position, &bytes) {
                        Ok(path) => {
                            tracing::info!(%field, path = %path.display(), "begins with a stored snapshot");
                        }
                        Err(error) => {
                            tracing::warn!(
                                error = with_causes(&error),
                                "a stored snapshot was not kept"
                            );
                        }
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl Inner {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut pause = DEPOT_RETRY;
        while let Some(errand) = self.next() {
            if self.noted(self.carry_out(&errand)).is_some() {
                self.queue().done(errand, self.origin.now_ms());
                pause = DEPOT_RETRY;
            } else {
                let queue = self.queue();
                // What is asked meanwhile would fail too.
                let waited =
                    self.bell.wait_timeout_while(queue, pause, |queue| !queue.is_stopped());
                waited.unwrap_or_else(PoisonError::into_inner).0.failed(errand);
                pause = (pause * 2).min(DEPOT_RETRY_MAX);
            }
            self.bell.notify_all();
        }
    }

    fn next(&self) -> Option<Errand> {
        let mut queue = self.queue();
        loop {
            if queue.is_stopped() {
                return None;
            }
            let now_ms = self.origin.now_ms();
            if let Some(errand) = queue.next(now_ms) {
                return Some(errand);
            }
            let wait = queue.due_in(now_ms).unwrap_or(DEPOT_RETRY_MAX);
            let waited = self.bell.wait_timeout(queue, wait);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn carry_out(&self, errand: &Errand) -> Result<(), StoreError> {
        match errand {
            Errand::Store(offer) => self.store(offer),
            Errand::Discard(field, position) => {
                let names = self.store.list(field.as_ref())?;
                self.delete(field, sorted(&names).iter().filter(|name| name.position < *position))
            }
        }
    }

    fn store(&self, offer: &Offer) -> Result<(), StoreError> {
        let Offer { engine, field, file, head, close } = offer;
        let names = self.store.list(field.as_ref())?;
        let kept = sorted(&names);
        let is_close = |name: &&Name| name.position.saturating_add(*close) > head.position;
        // What cannot be read from the log now is not of it.
        let is_of_log = |name: &Name| name.is_of_log(engine.as_ref(), field).unwrap_or(false);
        if kept.iter().filter(is_close).any(is_of_log) {
            return Ok(());
        }
        // One that is not there any more was replaced, or purged.
        let Ok(bytes) = std::fs::read(file) else { return Ok(()) };
        let name = Name { position: head.position, hash: head.hash.to_string() };
        self.store.put(&format!("{field}/{}", name.text()), bytes)?;
        self.stored.fetch_add(1, Ordering::Relaxed);
        tracing::info!(%field, position = head.position, "stored a snapshot for other nodes");
        let older = kept.iter().filter(|kept| kept.position < head.position).rev();
        self.delete(field, older.skip(DEPOT_SNAPSHOTS_KEPT - 1))
    }

    fn delete<'n>(
        &self,
        field: &FieldName,
        mut names: impl Iterator<Item = &'n Name>,
    ) -> Result<(), StoreError> {
        names.try_for_each(|name| self.store.delete(&format!("{field}/{}", name.text())))
    }

    /// Whether whoever opens a Field had better not wait for it.
    fn failed_lately(&self) -> bool {
        let since_ms = self.origin.now_ms().saturating_sub(self.failed_ms.load(Ordering::Relaxed));
        let lately = Duration::from_millis(since_ms) < DEPOT_RETRY_MAX;
        lately && self.is_down.load(Ordering::Relaxed)
    }

    /// Counts a failure and logs it, once until it works again.
    fn noted<T>(&self, result: Result<T, StoreError>) -> Option<T> {
        match result {
            Ok(value) => {
                if self.is_down.swap(false, Ordering::Relaxed) {
                    tracing::info!("the storage of snapshots works again");
                }
                Some(value)
            }
            Err(error) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                self.failed_ms.store(self.origin.now_ms(), Ordering::Relaxed);
                if !self.is_down.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        error = with_causes(&error),
                        "the storage of snapshots fails; it is tried again"
                    );
                }
                None
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    position: u64,
    hash: String,
}

impl Name {
    fn parse(text: &str) -> Option<Self> {
        let (position, hash) = text.strip_suffix(".snap")?.split_once('-')?;
        let name = Self { position: position.parse().ok()?, hash: hash.to_owned() };
        (name.text() == text).then_some(name)
    }

    fn text(&self) -> String {
        format!("{:020}-{}.snap", self.position, self.hash)
    }

    fn is_of_log(&self, engine: &dyn Engine, field: &FieldName) -> Result<bool, EngineError> {
        let found = match engine.read(field, self.position, 1) {
            Err(EngineError::UnknownField { .. }) => return Ok(false),
            found => found?,
        };
        Ok(found.first().is_some_and(|commit| self.expect(&commit.head()).is_ok()))
    }

    fn expect(&self, head: &Head) -> Result<(), String> {
        let is_it = head.position == self.position && head.hash.to_string() == self.hash;
        if is_it { Ok(()) } else { Err("it is of another commit than its name says".to_owned()) }
    }
}

/// The names that are of snapshots, oldest first.
fn sorted(names: &[String]) -> Vec<Name> {
    let mut names: Vec<Name> = names.iter().filter_map(|name| Name::parse(name)).collect();
    names.sort();
    names
}
