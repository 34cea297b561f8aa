//! How long it is counted that units of others gave way to those of somebody weak: for 1,000 commits, and a day.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use quipu_core::{
    Message,
    origin::{Origin, ScriptedOrigin},
};
use quipu_field::{Field, FieldOptions};
use quipu_log::{Engine, FieldName, MemoryEngine, Salt};
use quipu_wire::akashik::{ConflictStrategy, MergePayload};
use serde_json::json;

use crate::support::{message, record, register};

const HOUR_MS: u64 = 60 * 60 * 1000;

/// A machine whose clock is put forward.
#[derive(Debug, Default)]
struct Clock {
    script: ScriptedOrigin,
    later_ms: AtomicU64,
}

impl Origin for Clock {
    fn now_ms(&self) -> u64 {
        self.script.now_ms() + self.later_ms.load(Ordering::Relaxed)
    }

    fn id_bits(&self) -> u128 {
        self.script.id_bits()
    }

    fn salt(&self) -> Salt {
        self.script.salt()
    }
}

struct World {
    engine: Arc<dyn Engine>,
    clock: Arc<Clock>,
    field: Arc<Field>,
    /// Units of `a`.
    old: Vec<String>,
}

impl World {
    async fn begin() -> Self {
        let (engine, clock): (Arc<dyn Engine>, _) =
            (Arc::new(MemoryEngine::new()), Arc::new(Clock::default()));
        let field = opened(&engine, &clock);
        for agent in ["a", "b", "c"] {
            register(&field, agent).await.unwrap();
        }
        let mut world = Self { engine, clock, field, old: Vec::new() };
        for at in 0..8 {
            world.old.push(world.write("a", &format!("old-{at}")).await);
        }
        world
    }

    fn passes(&self, hours: u64) {
        self.clock.later_ms.fetch_add(hours * HOUR_MS, Ordering::Relaxed);
    }

    async fn write(&self, agent: &str, id: &str) -> String {
        record(&self.field, weak(id, agent), id, json!([])).await.unwrap().memory_unit_id
    }

    async fn writes(&self, agent: &str, commits: usize) {
        for _ in 0..commits {
            self.write(agent, &format!("between-{}", self.field.head().position)).await;
        }
    }

    /// Whether a unit of `b` replaces one of `a`.
    async fn replaces(&self, old: usize) -> bool {
        let links = json!([{"type": "supersedes", "target_id": self.old[old]}]);
        let id = format!("new-{}", self.field.head().position);
        let answer = record(&self.field, weak(&id, "b"), &id, links).await.unwrap();
        answer.warnings.is_empty()
    }
}

fn opened(engine: &Arc<dyn Engine>, clock: &Arc<Clock>) -> Arc<Field> {
    let options = FieldOptions::new(Arc::clone(clock) as Arc<dyn Origin>);
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

fn weak(id: &str, agent: &str) -> Message {
    Message { authority: 6, ..message(id, agent) }
}

#[tokio::test]
async fn neither_ones_own_commits_nor_time_alone_end_the_count() {
    let mut world = World::begin().await;
    for old in 0..5 {
        assert!(world.replaces(old).await);
    }
    assert!(!world.replaces(5).await);
    // A thousand commits of its own, and of a friend.
    world.writes("b", 600).await;
    world.writes("c", 600).await;
    assert!(!world.replaces(5).await);
    world.passes(23);
    assert!(!world.replaces(5).await);
    // What is counted is known to who opens the log, too.
    world.field.close().await;
    world.field = opened(&world.engine, &world.clock);
    assert!(!world.replaces(5).await);
    world.passes(2);
    assert!(world.replaces(6).await);
}

#[tokio::test]
async fn a_day_alone_does_not_end_the_count_where_little_happens() {
    let world = World::begin().await;
    for old in 0..5 {
        assert!(world.replaces(old).await);
    }
    world.passes(100);
    assert!(!world.replaces(5).await);
    world.writes("c", 1_000).await;
    assert!(world.replaces(6).await);
}

#[tokio::test]
async fn what_one_settled_in_ones_own_favour_counts_as_long() {
    let world = World::begin().await;
    for old in 0..4 {
        assert!(world.replaces(old).await);
    }
    let against = json!([{"type": "contradicts", "target_id": world.old[5]}]);
    record(&world.field, weak("against", "b"), "against", against).await.unwrap();
    let conflict = world.field.conflicts().await.unwrap().conflicts[0].id.clone();
    let payload = json!({"conflict_id": conflict, "strategy": ConflictStrategy::LastWriteWins,
                         "resolution": {"rationale": "newer"}});
    let (payload, _) = MergePayload::parse(payload).unwrap();
    world.field.merge(weak("merge", "b"), payload).await.unwrap();
    assert!(!world.replaces(6).await, "the fifth is the conflict");
    world.writes("c", 1_000).await;
    assert!(!world.replaces(6).await);
    world.passes(25);
    assert!(world.replaces(7).await);
}
