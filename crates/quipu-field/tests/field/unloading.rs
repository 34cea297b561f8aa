//! Fields that nobody uses are put away and come back, and nobody can tell.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    coordination::coordinate,
    state_from_log::{Step, perform, runtime, step},
    support::{eventually, message, record, register},
};
use proptest::prelude::*;
use quipu_core::Origin;
use quipu_field::{FieldOptions, Fields, Keeping};
use quipu_log::{Engine, FieldName, Head, MemoryEngine, Salt, SqliteEngine, SqliteOptions};
use quipu_wire::akashik::{AttunePayload, SubscribePayload};
use serde_json::json;

/// Time that passes when it is told to, and ids that do not depend on who asks for the time.
#[derive(Debug, Default)]
struct ByHand {
    now_ms: AtomicU64,
    drawn: AtomicU64,
}

impl ByHand {
    fn pass(&self, length: Duration) {
        let length_ms = u64::try_from(length.as_millis()).unwrap();
        self.now_ms.fetch_add(length_ms, Ordering::Relaxed);
    }
}

impl Origin for ByHand {
    fn now_ms(&self) -> u64 {
        1_772_361_000_000 + self.now_ms.load(Ordering::Relaxed)
    }

    fn id_bits(&self) -> u128 {
        u128::from(self.drawn.fetch_add(1, Ordering::Relaxed))
    }

    fn salt(&self) -> Salt {
        Salt::from_bytes(self.id_bits().to_be_bytes())
    }
}

const IDLE: Duration = Duration::from_secs(60);

fn fields(engine: &Arc<dyn Engine>, open_max: usize) -> (Arc<ByHand>, Fields) {
    let origin = Arc::new(ByHand::default());
    let fields = Fields::new(Arc::clone(engine), Arc::clone(&origin) as _, None);
    (origin, fields.keeping(Keeping { open_max, idle: IDLE }))
}

fn memory() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

fn name(text: &str) -> FieldName {
    FieldName::try_from(text).unwrap()
}

async fn note(fields: &Fields, of: &str, id: &str) {
    let field = fields.open(&name(of)).await.unwrap();
    record(&field, message(id, "ann"), &format!("note {id}"), json!([])).await.unwrap();
}

async fn begin(fields: &Fields, of: &str) {
    register(&fields.open(&name(of)).await.unwrap(), "ann").await.unwrap();
}

#[tokio::test]
async fn a_field_that_nobody_uses_for_a_while_is_put_away_and_comes_back_as_it_was() {
    let engine = memory();
    let (origin, fields) = fields(&engine, 9);
    begin(&fields, "a").await;
    note(&fields, "a", "1").await;
    let before = fields.open(&name("a")).await.unwrap().status();
    origin.pass(IDLE / 2);
    fields.tend().await;
    assert_eq!((fields.open_count(), fields.away_count()), (1, 0), "it was used a moment ago");
    origin.pass(IDLE);
    fields.tend().await;
    assert_eq!((fields.open_count(), fields.away_count()), (0, 1));
    let again = fields.find(&name("a")).await.unwrap().unwrap();
    assert_eq!(again.status(), before, "the clock and the log are where they were");
    note(&fields, "a", "2").await;
    assert_eq!(again.status().units.total, 2);
}

#[tokio::test]
async fn the_one_that_was_used_longest_ago_makes_room() {
    let engine = memory();
    let (origin, fields) = fields(&engine, 2);
    for of in ["a", "b", "a", "c"] {
        begin(&fields, of).await;
        origin.pass(Duration::from_millis(1));
    }
    let open: Vec<String> = fields.opened().iter().map(|field| field.name().to_string()).collect();
    assert_eq!(open, ["a", "c"]);
}

#[tokio::test]
async fn whoever_holds_a_field_keeps_it_open() {
    let engine = memory();
    let (origin, fields) = fields(&engine, 1);
    let held = fields.open(&name("a")).await.unwrap();
    register(&held, "ann").await.unwrap();
    begin(&fields, "b").await;
    origin.pass(IDLE * 2);
    fields.tend().await;
    record(&held, message("1", "ann"), "still good", json!([])).await.unwrap();
    assert!(Arc::ptr_eq(&held, &fields.open(&name("a")).await.unwrap()));
}

#[tokio::test]
async fn somebody_who_listens_keeps_it_open() {
    let engine = memory();
    let (origin, fields) = fields(&engine, 9);
    let field = fields.open(&name("a")).await.unwrap();
    register(&field, "ann").await.unwrap();
    let asked = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let (asked, _) = SubscribePayload::parse(asked).unwrap();
    let made = field.subscribe(message("s", "ann"), asked).await.unwrap().subscription.unwrap();
    let stream = field.pushes(None, 10, &made.id, None).await.unwrap();
    drop(field);
    origin.pass(IDLE * 2);
    fields.tend().await;
    assert_eq!(fields.open_count(), 1);
    drop(stream);
    fields.tend().await;
    assert_eq!(fields.open_count(), 0, "a subscription alone needs nobody");
}

#[tokio::test]
async fn a_lease_ends_when_it_is_due_although_the_field_was_put_away() {
    let engine = memory();
    let (origin, fields) = fields(&engine, 9);
    begin(&fields, "a").await;
    let field = fields.open(&name("a")).await.unwrap();
    let task = json!({"id": "t", "title": "t", "intent": {"purpose": "p"}});
    let lease_ms = u64::try_from(IDLE.as_millis()).unwrap() * 3;
    for (id, payload) in [
        ("make", json!({"action": "create", "task": task})),
        ("claim", json!({"action": "claim", "task_id": "t", "lease_ms": lease_ms})),
    ] {
        coordinate(&field, message(id, "ann"), payload).await.unwrap();
    }
    drop(field);
    origin.pass(IDLE);
    fields.tend().await;
    assert_eq!(fields.open_count(), 0);
    let before = engine.head(&name("a")).unwrap();
    origin.pass(IDLE * 2);
    fields.tend().await;
    let noted = || engine.head(&name("a")).unwrap().position > before.position;
    eventually("the lease is ended", noted).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_is_told_that_a_field_is_closed() {
    const CALLERS: u64 = 8;
    const NOTES: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    let engine: Arc<dyn Engine> =
        Arc::new(SqliteEngine::open(folder.path(), SqliteOptions::default()).unwrap());
    let (_, fields) = fields(&engine, 2);
    let fields = Arc::new(fields.keeping(Keeping { open_max: 2, idle: Duration::ZERO }));
    for of in 0..5 {
        begin(&fields, &format!("f{of}")).await;
    }
    let caller = |caller: u64| {
        let fields = Arc::clone(&fields);
        tokio::spawn(async move {
            for at in 0..NOTES {
                note(&fields, &format!("f{}", (caller + at) % 5), &format!("{caller}-{at}")).await;
                if at % 7 == 0 {
                    fields.tend().await;
                }
            }
        })
    };
    let callers: Vec<_> = (0..CALLERS).map(caller).collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let mut units = 0;
    for of in 0..5 {
        units += fields.open(&name(&format!("f{of}"))).await.unwrap().status().units.total;
    }
    assert_eq!(units, CALLERS * NOTES);
}

#[derive(Debug, Clone)]
struct Use {
    field: u8,
    steps: Vec<Step>,
    tend: bool,
}

fn uses() -> impl Strategy<Value = Vec<Use>> {
    let one = (0u8..5, proptest::collection::vec(step(), 1..6), any::<bool>())
        .prop_map(|(field, steps, tend)| Use { field, steps, tend });
    proptest::collection::vec(one, 1..24)
}

type Seen = (Vec<Vec<String>>, Vec<(Head, quipu_wire::Hash)>);

async fn use_all(fields: &Fields, origin: &ByHand, uses: &[Use]) -> Seen {
    let mut answers = Vec::new();
    for one in uses {
        let field = fields.open(&name(&format!("f{}", one.field))).await.unwrap();
        answers.push(perform(&field, &one.steps).await);
        let asked = json!({"scope": {"role": "tester", "max_units": 5}, "context_hint": "ships"});
        let (asked, _) = AttunePayload::parse(asked).unwrap();
        answers.push(vec![format!("{:?}", field.attune(message("look", "agent-0"), asked).await)]);
        drop(field);
        // So little that no lease of a run ends: that is noted beside the requests, and nobody knows when.
        origin.pass(Duration::from_millis(1));
        if one.tend {
            fields.tend().await;
        }
    }
    let mut ends = Vec::new();
    for of in 0..5 {
        let field = fields.open(&name(&format!("f{of}"))).await.unwrap();
        ends.push((field.head(), field.state_hash()));
    }
    (answers, ends)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn many_fields_with_room_for_few_answer_as_if_all_were_open(uses in uses()) {
        runtime().block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let sqlite: Arc<dyn Engine> = Arc::new(
                SqliteEngine::open(folder.path(), SqliteOptions::default()).unwrap(),
            );
            let (origin, all) = fields(&memory(), 99);
            let open = use_all(&all, &origin, &uses).await;
            let origin = Arc::new(ByHand::default());
            let options = FieldOptions {
                snapshot_commits: 3,
                ..FieldOptions::new(Arc::clone(&origin) as _)
            };
            let directory = Some(folder.path().join("fields"));
            let few = Fields::with_options(sqlite, options, directory)
                .keeping(Keeping { open_max: 2, idle: Duration::ZERO });
            let put_away = use_all(&few, &origin, &uses).await;
            prop_assert_eq!(open, put_away);
            Ok(())
        })?;
    }
}
