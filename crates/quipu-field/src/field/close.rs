//! How a Field ends: closed for good, with the clock noted in the log, or put away for a while, without a trace
//! in the log, and opened again from where it was.

use std::sync::{Arc, PoisonError, atomic::Ordering};

use quipu_log::{Engine, EngineError, FieldName, Head, verify_chain};
use quipu_wire::akashik::TaskStatus;

use crate::{
    base::{
        failure::with_causes,
        limits::{SNAPSHOT_COMMITS_MIN, SNAPSHOT_PARTING_COMMITS},
    },
    enrich::EnrichmentProgress,
    field::{Field, index_later::await_last_texts},
    snapshot::restore::is_of_log,
    write::{clock::LamportClock, job::Job},
};
use quipu_core::rules::harn::FIELD_AGENT;

/// What is remembered of a Field while it is put away: what neither the log nor a snapshot says.
#[derive(Debug, Clone)]
pub(crate) struct Parting {
    /// The clock: what readers were told is not in the log.
    pub(crate) clock: Arc<LamportClock>,
    /// The last commit that was known. A log without it is not the same log.
    pub(crate) head: Head,
    /// Whether everything up to there was verified.
    verified: bool,
    /// When something must be done although nobody asks.
    pub(crate) due_ms: Option<u64>,
}

impl Parting {
    /// The clock, where this log goes on from what was known.
    pub(crate) fn resume(&self, head: &Head) -> Arc<LamportClock> {
        if head.epoch > self.head.epoch {
            self.clock.published(head.epoch);
        }
        Arc::clone(&self.clock)
    }

    /// What is wrong with a log that is not the one that was known.
    pub(crate) fn missed_by(
        &self,
        engine: &dyn Engine,
        field: &FieldName,
    ) -> Result<Option<String>, EngineError> {
        if self.head == Head::EMPTY || is_of_log(engine, field, &self.head)? {
            return Ok(None);
        }
        let position = self.head.position;
        Ok(Some(format!(
            "the log is not the one that this node knows: position {position} is gone or changed"
        )))
    }

    /// How far a background check of the log can begin late.
    pub(crate) const fn covers(&self, position: u64) -> bool {
        self.verified && position <= self.head.position
    }
}

impl Field {
    /// Finishes what is queued, notes the clock, makes a snapshot where it is worth it, and stops.
    /// Afterwards every write is refused. Texts that are still being read are waited for, but not for long.
    pub async fn close(self: &Arc<Self>) {
        await_last_texts(std::slice::from_ref(self)).await;
        self.close_now().await;
    }

    /// The same, whatever is still being read.
    pub(crate) async fn close_now(self: &Arc<Self>) {
        let noted_at = self.origin.now_ms();
        self.stop_all(Job::Close(Some(noted_at)), SNAPSHOT_COMMITS_MIN / 8).await;
    }

    /// The same, but the log is not told, because the Field goes on later with what is answered here.
    pub(crate) async fn put_away(self: &Arc<Self>) -> Parting {
        self.stop_all(Job::Close(None), SNAPSHOT_PARTING_COMMITS).await;
        let (checked, of) = self.health().background_check();
        let published = self.view.read();
        Parting {
            clock: Arc::clone(&self.clock),
            head: published.head,
            verified: checked >= of,
            due_ms: published.state.tasks.next_expiry(),
        }
    }

    async fn stop_all(self: &Arc<Self>, last: Job, worth: u64) {
        self.stop.store(true, Ordering::Relaxed);
        self.enriching.iter().for_each(|enriching| enriching.stop());
        self.lookout.stop();
        let closing = self.jobs.send(last).await.is_ok();
        let closed = self
            .regardless(move |field| {
                let threads = std::mem::take(
                    &mut *field.threads.lock().unwrap_or_else(PoisonError::into_inner),
                );
                for thread in threads {
                    thread.join().ok();
                }
                if closing {
                    field.proofs.close();
                    field.save_last_snapshot(worth);
                }
                Ok(())
            })
            .await;
        if let Err(error) = closed {
            tracing::error!(%error, field = %self.name, "the Field did not close in order");
        }
    }

    /// Whether something goes on in it although nobody holds it: somebody listens, the Field itself works on
    /// something, or there is a failure that whoever operates it must see.
    pub(crate) fn is_at_work(&self) -> bool {
        if self.health().failure().is_some()
            || self.tail.has_listeners()
            || self.lookout.waiting() > 0
            || !self.view.is_indexed()
            || self.jobs.capacity() < self.jobs.max_capacity()
        {
            return true;
        }
        let enriching = |progress: EnrichmentProgress| {
            progress.failure.is_none() && progress.done < progress.of
        };
        if self.enrichment().is_some_and(enriching) {
            return true;
        }
        let state = &self.view.read().state;
        // What is blocked waits for somebody who will ask for the Field.
        let mut own = state.tasks.held_by(FIELD_AGENT);
        state.endings.iter().next().is_some()
            || own.any(|(_, task)| task.status != TaskStatus::Blocked)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn save_last_snapshot(&self, worth: u64) {
        let Some(snapshotter) = &self.snapshotter else { return };
        snapshotter.stop();
        if self.health().failure().is_none() {
            snapshotter.save_last(&self.view.read(), worth);
        }
    }

    /// Verifies the part of the log that the snapshot stood for.
    pub(crate) fn check_in_background(
        &self,
        engine: Arc<dyn Engine>,
        up_to: u64,
    ) -> Result<(), EngineError> {
        if up_to == 0 {
            return Ok(());
        }
        let (health, stop, name) =
            (Arc::clone(&self.health), Arc::clone(&self.stop), self.name.clone());
        health.start_check(up_to);
        self.start("check", move || {
            let done = || quipu_log::Damage::storage("checked far enough");
            let checked = verify_chain(engine.as_ref(), &name, Head::EMPTY, &mut |commit| {
                health.checked(commit.position);
                let enough = commit.position >= up_to || stop.load(Ordering::Relaxed);
                if enough { Err(done()) } else { Ok(()) }
            });
            match checked {
                Ok(_) => {}
                Err(EngineError::Damaged(damage)) if damage == done() => {}
                Err(error) => health.fail(&format!("damage in the log: {}", with_causes(&error))),
            }
        })
    }
}
