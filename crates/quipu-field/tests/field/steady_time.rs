//! Leases and timestamps where somebody sets the wall clock of the machine wrong and right again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    coordination::{coordinate, from, make},
    support::{message, record},
};
use quipu_core::{Event, Origin, origin::ScriptedOrigin};
use quipu_field::{Field, FieldOptions};
use quipu_log::{Engine, FieldName, MemoryEngine, Salt};
use quipu_wire::akashik::{RegisterPayload, TaskStatus};
use serde_json::json;

const NOON_MS: u64 = 1_772_361_000_000;
const DAY_MS: u64 = 86_400_000;

/// A machine whose wall clock can be set without time passing.
#[derive(Debug, Default)]
struct Machine {
    wall_ms: AtomicU64,
    elapsed_ms: AtomicU64,
    ids: ScriptedOrigin,
}

impl Machine {
    fn at(wall_ms: u64) -> Arc<Self> {
        let machine = Self::default();
        machine.wall_ms.store(wall_ms, Ordering::Relaxed);
        Arc::new(machine)
    }

    fn set_clock(&self, wall_ms: u64) {
        self.wall_ms.store(wall_ms, Ordering::Relaxed);
    }

    fn pass(&self, ms: u64) {
        self.wall_ms.fetch_add(ms, Ordering::Relaxed);
        self.elapsed_ms.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Origin for Machine {
    fn now_ms(&self) -> u64 {
        self.wall_ms.load(Ordering::Relaxed)
    }

    fn elapsed(&self) -> Option<Duration> {
        Some(Duration::from_millis(self.elapsed_ms.load(Ordering::Relaxed)))
    }

    fn id_bits(&self) -> u128 {
        self.ids.id_bits()
    }

    fn salt(&self) -> Salt {
        self.ids.salt()
    }
}

fn open(engine: &Arc<dyn Engine>, machine: &Arc<Machine>) -> Arc<Field> {
    let origin = Arc::clone(machine) as Arc<dyn Origin>;
    let options = FieldOptions::new(origin);
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

async fn opened_with_agents(machine: &Arc<Machine>) -> (Arc<dyn Engine>, Arc<Field>) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, machine);
    for agent in ["a", "b"] {
        let payload = json!({"id": agent, "role": "worker"});
        let (payload, _) = RegisterPayload::parse(payload).unwrap();
        field.register(message(&format!("register-{agent}"), agent), payload).await.unwrap();
    }
    (engine, field)
}

async fn status_of(field: &Arc<Field>, id: &str) -> TaskStatus {
    let payload = json!({"action": "get", "task_id": id});
    coordinate(field, from("b", None), payload).await.unwrap().task.unwrap().status
}

/// Has leases looked at, as a server does once a second, and waits until that is done.
async fn look(field: &Arc<Field>, machine: &Arc<Machine>) {
    field.expire_leases();
    let id = format!("after-{}", machine.ids.id_bits());
    record(field, message(&id, "a"), "behind the look in the queue", json!([])).await.unwrap();
}

/// Records, and gives the time of the commit.
async fn recorded_at(engine: &Arc<dyn Engine>, field: &Arc<Field>, id: &str) -> u64 {
    record(field, message(id, "a"), id, json!([])).await.unwrap();
    let last = engine.read(&FieldName::default_field(), field.head().position, 1).unwrap();
    last[0].decode_header::<Event>().unwrap().time_ms
}

#[tokio::test]
async fn a_lease_neither_ends_nor_freezes_when_the_wall_clock_is_a_day_ahead_for_a_moment() {
    let machine = Machine::at(NOON_MS);
    let (engine, field) = opened_with_agents(&machine).await;
    make(&field, from("a", None), "t", json!({"assignee": "a", "lease_ms": 30_000})).await;
    machine.set_clock(NOON_MS + DAY_MS);
    machine.pass(1000);
    record(&field, message("1", "a"), "written while the clock is wrong", json!([])).await.unwrap();
    look(&field, &machine).await;
    assert_eq!(status_of(&field, "t").await, TaskStatus::Assigned, "a second is no day");
    machine.set_clock(NOON_MS + 1000);
    machine.pass(20_000);
    look(&field, &machine).await;
    assert_eq!(status_of(&field, "t").await, TaskStatus::Assigned);
    machine.pass(15_000);
    look(&field, &machine).await;
    assert_eq!(status_of(&field, "t").await, TaskStatus::Pending, "36 s are more than 30");
    let late = recorded_at(&engine, &field, "2").await;
    assert!(late.abs_diff(NOON_MS + 36_000) < 5000, "{late}");
}

#[tokio::test]
async fn a_wall_clock_that_is_set_back_freezes_no_lease() {
    let machine = Machine::at(NOON_MS);
    let (_, field) = opened_with_agents(&machine).await;
    make(&field, from("a", None), "t", json!({"assignee": "a", "lease_ms": 30_000})).await;
    machine.set_clock(NOON_MS - DAY_MS);
    machine.pass(40_000);
    look(&field, &machine).await;
    assert_eq!(status_of(&field, "t").await, TaskStatus::Pending);
}

#[tokio::test]
async fn behind_a_commit_from_tomorrow_a_new_process_still_ends_leases() {
    let ahead = Machine::at(NOON_MS + DAY_MS);
    let (engine, field) = opened_with_agents(&ahead).await;
    make(&field, from("a", None), "t", json!({"assignee": "a", "lease_ms": 30_000})).await;
    field.close().await;
    let machine = Machine::at(NOON_MS);
    let field = open(&engine, &machine);
    machine.pass(20_000);
    look(&field, &machine).await;
    assert_eq!(status_of(&field, "t").await, TaskStatus::Assigned);
    machine.pass(20_000);
    look(&field, &machine).await;
    assert_eq!(status_of(&field, "t").await, TaskStatus::Pending);
    let first = recorded_at(&engine, &field, "1").await;
    machine.pass(10_000);
    assert!(recorded_at(&engine, &field, "2").await >= first + 9000, "timestamps go on");
}
