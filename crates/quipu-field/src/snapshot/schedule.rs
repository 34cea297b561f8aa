//! Makes snapshots in the background (`renew.rs` says of what). It takes from whoever is served meanwhile, so it is put
//! off while many commits come, but not for long.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
};

use quipu_log::{Engine, FieldName, Head};

use crate::{
    base::{
        failure::with_causes,
        limits::{SNAPSHOT_PATIENCE, SNAPSHOT_QUIET_COMMITS, SNAPSHOT_SHARE, SNAPSHOT_WATCH},
    },
    read::view::{Published, View},
    snapshot::{
        depot::{Depot, Offer},
        format::{SnapshotDir, SnapshotError},
        renew::renew,
    },
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
    view: Arc<View>,
    directory: SnapshotDir,
    /// Commits after which the next one is made, at least.
    commits: u64,
    depot: Option<Depot>,
    last_position: AtomicU64,
    published: AtomicU64,
    /// Where the last attempt was made: after a failure the next one waits for as much new log.
    last_attempt: AtomicU64,
    stop: AtomicBool,
    running: Mutex<Option<JoinHandle<()>>>,
}

impl Snapshotter {
    /// Makes snapshots of a Field, whose newest is at `last_position`: the next one after so many `commits` at least.
    #[must_use]
    pub(crate) fn new(
        engine: &Arc<dyn Engine>,
        field: &FieldName,
        view: &Arc<View>,
        directory: SnapshotDir,
        depot: Option<Depot>,
        commits: u64,
        last_position: u64,
    ) -> Self {
        let inner = Inner {
            engine: Arc::clone(engine),
            field: field.clone(),
            view: Arc::clone(view),
            directory,
            commits,
            depot,
            last_position: AtomicU64::new(last_position),
            published: AtomicU64::new(last_position),
            last_attempt: AtomicU64::new(last_position),
            stop: AtomicBool::new(false),
            running: Mutex::new(None),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a snapshot if one is due and none is being made.
    pub(crate) fn published(&self, head: &Head) {
        self.inner.published.store(head.position, Ordering::Relaxed);
        let behind = head.position.saturating_sub(self.inner.last_attempt.load(Ordering::Relaxed));
        let is_due = behind >= interval(head.position, self.inner.commits);
        if !is_due || !self.inner.view.is_indexed() {
            return;
        }
        let mut running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let inner = Arc::clone(&self.inner);
        let spawned = thread::Builder::new()
            .name(format!("snapshot-{}", inner.field))
            .spawn(move || inner.make_when_quiet());
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
        end(running);
    }

    /// Stops what is being made, deletes every snapshot from before a purge, and goes on.
    pub(crate) fn purge(&self, position: u64) -> Result<(), SnapshotError> {
        // Held all the while, so that none is started that could read what is deleted here.
        let mut running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner);
        let stopped_before = self.inner.stop.swap(true, Ordering::Relaxed);
        let was_running = running.as_ref().is_some_and(|thread| !thread.is_finished());
        end(running.take());
        self.inner.stop.store(stopped_before, Ordering::Relaxed);
        self.inner.directory.discard_before(position)?;
        if let Some(depot) = &self.inner.depot {
            depot.discard_before(&self.inner.field, position);
        }
        if self.inner.last_position.load(Ordering::Relaxed) < position {
            self.inner.last_position.store(0, Ordering::Relaxed);
        }
        // What was stopped is due still.
        if was_running {
            self.inner.last_attempt.store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Saves what is published, unless there are fewer commits since the last snapshot than it is worth.
    pub(crate) fn save_last(&self, published: &Published, worth: u64) {
        let last = self.inner.last_position.load(Ordering::Relaxed);
        // Its texts are not all read yet, so the last snapshot is all there is.
        if published.unindexed.is_some() {
            return;
        }
        if published.head.position.saturating_sub(last) >= worth.min(self.inner.commits).max(1) {
            self.inner.save(published);
        }
    }
}

fn end(running: Option<JoinHandle<()>>) {
    if let Some(running) = running {
        running.thread().unpark();
        running.join().ok();
    }
}

impl Inner {
    /// Makes one once few commits come, unless it is not wanted any more.
    fn make_when_quiet(&self) {
        let last = self.last_position.load(Ordering::Relaxed);
        let mut lull = Lull::new(last, self.published.load(Ordering::Relaxed), self.commits);
        while !self.stop.load(Ordering::Relaxed) {
            thread::park_timeout(SNAPSHOT_WATCH);
            let published = self.published.load(Ordering::Relaxed);
            if !self.stop.load(Ordering::Relaxed) && lull.is_there(published) {
                self.last_attempt.store(published, Ordering::Relaxed);
                return self.make();
            }
        }
    }

    fn make(&self) {
        let go_on = || !self.stop.load(Ordering::Relaxed);
        let engine = self.engine.as_ref();
        match renew(engine, &self.field, &self.directory, &self.view, &go_on) {
            Ok(Some(renewed)) if go_on() => self.save(&renewed),
            // Due still, unless the last one has it all.
            Ok(_) => {
                let last = self.last_position.load(Ordering::Relaxed);
                self.last_attempt.store(last, Ordering::Relaxed);
            }
            Err(error) => tracing::warn!(error = with_causes(&error), "no snapshot was made"),
        }
    }

    fn save(&self, published: &Published) {
        let head = published.head;
        match self.directory.save(published) {
            Ok(file) => {
                self.last_position.store(head.position, Ordering::Relaxed);
                tracing::info!(field = %self.field, position = head.position, path = %file.display(), "snapshot");
                let (engine, field) = (Arc::clone(&self.engine), self.field.clone());
                let close = close_to(self.commits);
                if let Some(depot) = &self.depot {
                    depot.offer(Offer { engine, field, file, head, close });
                }
            }
            Err(error) => tracing::warn!(error = with_causes(&error), "no snapshot was saved"),
        }
    }
}

/// Commits from one snapshot to the next.
fn interval(published: u64, commits: u64) -> u64 {
    commits.max(published / SNAPSHOT_SHARE)
}

/// The moment for a snapshot that is due: when few commits come, or so many have come that it must be made.
#[derive(Debug)]
struct Lull {
    seen: u64,
    latest: u64,
}

impl Lull {
    /// Begins to wait for it, with the last snapshot at one position and so much published now. Earlier waits do not put it
    /// off.
    fn new(last: u64, published: u64, commits: u64) -> Self {
        let due = last.saturating_add(interval(published, commits));
        let latest = due.saturating_add(commits.saturating_mul(SNAPSHOT_PATIENCE));
        Self { seen: published, latest }
    }

    /// Whether it is there, with so much published now.
    const fn is_there(&mut self, published: u64) -> bool {
        let news = published.saturating_sub(self.seen);
        self.seen = published;
        news <= SNAPSHOT_QUIET_COMMITS || published >= self.latest
    }
}

/// How many commits are read from a log as fast as a snapshot is found and fetched.
pub(crate) const fn close_to(commits: u64) -> u64 {
    commits / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_waits_while_many_commits_come() {
        let mut lull = Lull::new(0, 20_000, 20_000);
        assert!(!lull.is_there(26_000));
        assert!(!lull.is_there(26_000 + SNAPSHOT_QUIET_COMMITS + 1));
        assert!(lull.is_there(26_000 + 2 * SNAPSHOT_QUIET_COMMITS));
    }

    #[test]
    fn however_many_come_a_snapshot_is_made_in_the_end() {
        let mut lull = Lull::new(0, 20_000, 20_000);
        let busy = (1..).map(|looks| 20_000 + looks * 6_000);
        let made = busy.into_iter().find(|published| lull.is_there(*published));
        assert_eq!(made, Some(80_000));
        assert!(Lull::new(0, 80_000, 20_000).is_there(86_000), "whoever was stopped before");
    }
}
