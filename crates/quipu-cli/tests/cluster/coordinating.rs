//! What only one may do is done by one, whichever nodes are asked.

use quipu_testbed::{Cluster, EngineKind, wait_until};
use serde_json::{Value, json};

use crate::support::{agree, at_once, register, settle, speak, start};

#[test]
fn over_postgres_a_task_has_one_winner_and_a_lease_one_end() {
    has_one_winner(&start(EngineKind::Postgres));
}

#[test]
fn over_nats_a_task_has_one_winner_and_a_lease_one_end() {
    has_one_winner(&start(EngineKind::Nats));
}

fn has_one_winner(cluster: &Cluster) {
    of_three_that_claim_a_task_one_gets_it(cluster);
    a_lease_runs_out_once(cluster);
}

fn create(cluster: &Cluster, node: usize, field: &str, id: &str) {
    let task = json!({"id": id, "title": "a task", "intent": {"purpose": "to test"}});
    let payload = json!({"action": "create", "task": task});
    speak(cluster, node, field).operate("COORDINATE", "a0", payload).ok();
}

fn task(cluster: &Cluster, node: usize, field: &str, id: &str) -> Value {
    let payload = json!({"action": "list"});
    let listed = speak(cluster, node, field).operate("COORDINATE", "a0", payload).ok();
    let mut tasks = listed["tasks"].as_array().unwrap().iter();
    tasks.find(|task| task["id"] == id).cloned().unwrap_or_default()
}

fn of_three_that_claim_a_task_one_gets_it(cluster: &Cluster) {
    let field = "claiming";
    for node in 0..3 {
        register(cluster, node, field, &format!("a{node}"));
    }
    for number in 0..10 {
        let id = format!("task-{number}");
        create(cluster, number % 3, field, &id);
        let answers = at_once(3, |node| {
            let payload = json!({"action": "claim", "task_id": id});
            speak(cluster, node, field).operate("COORDINATE", &format!("a{node}"), payload)
        });
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        let won = statuses.iter().filter(|status| **status == 200).count();
        assert_eq!(won, 1, "{:?}", answers.iter().map(|each| each.text()).collect::<Vec<_>>());
        let lost = answers.iter().filter(|answer| answer.status != 200);
        for answer in lost {
            assert_eq!(answer.json()["code"], "INVALID_TRANSITION", "{}", answer.text());
        }
        settle(cluster, field);
        let winner = format!("a{}", statuses.iter().position(|status| *status == 200).unwrap());
        for node in 0..3 {
            assert_eq!(task(cluster, node, field, &id)["assigned_to"], json!(winner));
        }
    }
    agree(cluster, field);
}

fn a_lease_runs_out_once(cluster: &Cluster) {
    let field = "leasing";
    register(cluster, 0, field, "a0");
    const TASKS: usize = 4;
    let (before, _) = settle(cluster, field);
    for number in 0..TASKS {
        let id = format!("task-{number}");
        create(cluster, number % 3, field, &id);
        settle(cluster, field);
        let payload = json!({"action": "claim", "task_id": id, "lease_ms": 300});
        speak(cluster, number % 3, field).operate("COORDINATE", "a0", payload).ok();
        // Every node looks by itself whether a lease has run out. One that would note it a second time does so before it
        // notes the lease of the next task.
        wait_until(30, "the lease runs out", || {
            let pending = |node| task(cluster, node, field, &id)["status"] == "pending";
            (0..3).all(pending).then_some(())
        });
    }
    let (after, _) = settle(cluster, field);
    let commits = u64::try_from(3 * TASKS).unwrap();
    assert_eq!(after, before + commits, "of each task: made, claimed, and one end of its lease");
    agree(cluster, field);
}
