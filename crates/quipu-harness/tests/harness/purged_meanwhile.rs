//! Purges beside what repeats Memories: nothing brings back words that were purged after they were read.

use std::sync::{
    Arc, Condvar, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use quipu_core::{
    DocumentKind, DocumentOwner, Refusal, UnitId,
    rules::harn::{DocumentDraft, Error as Rule, Expect, FIELD_AGENT, HarnCommand},
};
use quipu_field::FieldError;
use quipu_harness::Harness;
use quipu_log::{Commit, Engine, EngineError, FieldName, Head, MemoryEngine, conformance::Altered};
use quipu_wire::{akashik::RecordPayload, harn::TaskState};
use serde_json::json;
use tokio::sync::Notify;

use crate::{
    field_tasks::settled,
    support::{compact, harness, message, open, register, submit, texts},
};

const SECRET: &str = "the canary sings at noon";

async fn record_secret(harness: &Harness) -> UnitId {
    register(harness, "alice").await;
    let payload = json!({"type": "finding", "content": SECRET, "intent": {"purpose": "to test"},
        "confidence": {"score": 0.9, "reasoning": "seen"}});
    let (payload, _) = RecordPayload::parse(payload).unwrap();
    harness.field().record(message("r-1", "alice"), payload).await.unwrap();
    harness.field().with_state(|state| state.units.details(0).unwrap().id)
}

async fn purge(harness: &Harness) {
    let purge = json!({"strategy": "purge", "filter": {"types": ["finding"]}, "reason": "asked"});
    compact(harness, "p-1", purge).await;
}

/// A log that takes some commits and then holds one back, so that others wait behind it.
#[derive(Debug, Default)]
struct Holding {
    log: Arc<MemoryEngine>,
    /// Which of the commits to come is held back; 0 is none.
    nth: AtomicUsize,
    goes_on: Mutex<bool>,
    released: Condvar,
    holds: Notify,
}

impl Altered for Holding {
    fn inner(&self) -> Arc<dyn Engine> {
        Arc::<MemoryEngine>::clone(&self.log)
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        let counted = |left: usize| left.checked_sub(1);
        if self.nth.fetch_update(Ordering::SeqCst, Ordering::SeqCst, counted) == Ok(1) {
            self.holds.notify_one();
            let goes_on = self.goes_on.lock().unwrap();
            drop(self.released.wait_while(goes_on, |goes_on| !*goes_on).unwrap());
        }
        self.log.append(field, expected, batch)
    }
}

/// What the log says after a purge that came right behind one of the commits by which the Field answers.
async fn purged_behind(nth: usize) -> String {
    let holding = Arc::new(Holding::default());
    let engine: Arc<dyn Engine> = Arc::<Holding>::clone(&holding);
    let harness = open(&engine);
    record_secret(&harness).await;
    let id = submit(&harness, json!({"input": "when does the canary sing?"})).await;
    holding.nth.store(nth, Ordering::SeqCst);
    tokio::spawn(harness.clone().run_field_tasks());
    holding.holds.notified().await;
    let purging = tokio::spawn({
        let harness = harness.clone();
        async move { purge(&harness).await }
    });
    // So that the purge waits for its turn before the Field's next commit does.
    for _ in 0..20_000 {
        tokio::task::yield_now().await;
    }
    *holding.goes_on.lock().unwrap() = true;
    holding.released.notify_all();
    purging.await.unwrap();
    assert_eq!(settled(&harness, &id).await.status, TaskState::Completed, "behind {nth}");
    texts(&harness)
}

#[tokio::test(flavor = "multi_thread")]
async fn field_tasks_repeat_nothing_that_is_purged_while_they_are_answered() {
    for nth in 1..=3 {
        let told = purged_behind(nth).await;
        assert!(!told.contains("sings at noon"), "behind {nth}: {told}");
    }
}

/// A document that repeats a unit, as it was when the log was at a position.
fn repeating(harness: &Harness, unit: UnitId, read_at: Option<u64>) -> HarnCommand {
    let document = DocumentDraft {
        kind: DocumentKind::Content,
        id: "00".repeat(32),
        owner: DocumentOwner::default(),
        expect: Expect::Any,
        body: Some(harness.field().seal(&json!({"base64": ""})).unwrap()),
        quotes: vec![unit],
    };
    HarnCommand { documents: vec![document], read_at, ..HarnCommand::default() }
}

#[tokio::test]
async fn field_tasks_cannot_say_what_was_read_before_a_purge() {
    let harness = harness();
    let unit = record_secret(&harness).await;
    let before = harness.field().head().position;
    purge(&harness).await;
    let now = harness.field().head().position;
    for (read_at, is_refused) in [(None, true), (Some(before), true), (Some(now), false)] {
        let command = repeating(&harness, unit, read_at);
        let from = message(&format!("q-{read_at:?}"), FIELD_AGENT);
        let written = harness.field().harn(from, command).await;
        let refused = matches!(written, Err(FieldError::Refused(Refusal::Harn(Rule::Changed))));
        assert_eq!(refused, is_refused, "{read_at:?}: {written:?}");
        assert_eq!(written.is_err(), is_refused);
    }
}
