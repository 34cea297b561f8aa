//! Makes snapshots in the background. The next snapshot is built from the last one and the log, not
//! from the live state: nobody waits for it, and it is an independent second reading of the log.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
use std::thread::JoinHandle;

use quipu_log::{Engine, FieldName, Head};

use crate::{
    failure::with_causes,
    limits::{SNAPSHOT_COMMITS_MIN, SNAPSHOT_SHARE},
    restore::restore,
    snapshot::{SnapshotDir, SnapshotError},
};

/// Decides when a snapshot is due, and makes it.
#[derive(Debug, Clone)]
pub(crate) struct Snapshotter {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    engine: Arc<dyn Engine>,
    field: FieldName,
    directory: SnapshotDir,
    last_position: AtomicU64,
    /// Where the last attempt was made: after a failure the next one waits for as much new log.
    last_attempt: AtomicU64,
    stop: AtomicBool,
    running: Mutex<Option<JoinHandle<()>>>,
}

impl Snapshotter {
    /// Makes snapshots of a Field, whose newest is at `last_position`.
    #[must_use]
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        field: FieldName,
        directory: SnapshotDir,
        last_position: u64,
    ) -> Self {
        let inner = Inner {
            engine,
            field,
            directory,
            last_position: AtomicU64::new(last_position),
            last_attempt: AtomicU64::new(last_position),
            stop: AtomicBool::new(false),
            running: Mutex::new(None),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a snapshot if one is due and none is being made.
    pub(crate) fn published(&self, head: &Head) {
        let behind = head.position.saturating_sub(self.inner.last_attempt.load(Ordering::Relaxed));
        if behind < SNAPSHOT_COMMITS_MIN.max(head.position / SNAPSHOT_SHARE) {
            return;
        }
        let mut running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let inner = Arc::clone(&self.inner);
        let spawned = std::thread::Builder::new()
            .name(format!("snapshot-{}", inner.field))
            .spawn(move || inner.make());
        match spawned {
            Ok(thread) => {
                self.inner.last_attempt.store(head.position, Ordering::Relaxed);
                *running = Some(thread);
            }
            Err(error) => tracing::warn!(%error, "no thread for a snapshot"),
        }
    }

    /// Stops what is being made and waits until it has stopped.
    pub(crate) fn stop(&self) {
        self.inner.stop.store(true, Ordering::Relaxed);
        let running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = running {
            thread.join().ok();
        }
    }

    /// Stops what is being made, deletes every snapshot from before a purge, and goes on.
    pub(crate) fn purge(&self, position: u64) -> Result<(), SnapshotError> {
        // Held all the while, so that none is started that could read what is deleted here.
        let mut running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner);
        let stopped_before = self.inner.stop.swap(true, Ordering::Relaxed);
        if let Some(thread) = running.take() {
            thread.join().ok();
        }
        self.inner.stop.store(stopped_before, Ordering::Relaxed);
        self.inner.directory.discard_before(position)?;
        if self.inner.last_position.load(Ordering::Relaxed) < position {
            self.inner.last_position.store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Commits since the newest snapshot.
    #[must_use]
    pub(crate) fn behind(&self, head: &Head) -> u64 {
        head.position.saturating_sub(self.inner.last_position.load(Ordering::Relaxed))
    }

    /// Where the snapshots are.
    #[must_use]
    pub(crate) fn directory(&self) -> &SnapshotDir {
        &self.inner.directory
    }
}

impl Inner {
    fn make(&self) {
        let mut go_on = |_| !self.stop.load(Ordering::Relaxed);
        let restored =
            match restore(self.engine.as_ref(), &self.field, Some(&self.directory), &mut go_on) {
                Ok(restored) => restored,
                Err(error) if self.stop.load(Ordering::Relaxed) => {
                    tracing::debug!(%error, "snapshot stopped");
                    return;
                }
                Err(error) => {
                    tracing::warn!(error = with_causes(&error), "no snapshot was made");
                    return;
                }
            };
        let position = restored.published.head.position;
        match self.directory.save(&restored.published) {
            Ok(path) => {
                self.last_position.store(position, Ordering::Relaxed);
                tracing::info!(field = %self.field, position, path = %path.display(), "snapshot");
            }
            Err(error) => tracing::warn!(error = with_causes(&error), "no snapshot was saved"),
        }
    }
}
