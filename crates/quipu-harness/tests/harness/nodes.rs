//! Several nodes work for one Field: what each does of its own accord is done once, and what two change at the same
//! time is changed by both.

use std::{collections::BTreeSet, sync::Arc};

use quipu_field::{Field, FieldOptions, SystemOrigin};
use quipu_harness::{Harness, Page};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::harn::{
    ClaimNextRequest, CreateWorkspaceRequest, ResourceKind, TaskState, UpdateWorkspaceRequest,
};
use serde_json::{Value, json};

use crate::support::{asked, caller, claim, complete, eventually, persona, submit};

/// Two nodes over one log.
fn nodes() -> [Harness; 2] {
    let log: Arc<dyn Engine> = Arc::new(MemoryEngine::shared());
    [(); 2].map(|()| {
        let options = FieldOptions::new(Arc::new(SystemOrigin));
        let field = Field::open(Arc::clone(&log), FieldName::default_field(), options).unwrap();
        Harness::new(field)
    })
}

/// Waits until a node knows of what another did.
async fn follow(node: &Harness, other: &Harness) {
    node.field().await_position(other.field().head().position).await.unwrap();
}

async fn receipts(node: &Harness, task: &str) -> Vec<Value> {
    let page = Page::first(ResourceKind::Receipt);
    let list = node.task_receipts(&caller("alice"), task, page).await.unwrap();
    list.data.into_iter().map(|each| serde_json::to_value(each).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn receipts_that_two_notaries_issue_are_one_chain() {
    let nodes = nodes();
    let [one, other] = &nodes;
    let persona = persona(one, "required").await;
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let task = submit(one, json!({"input": "count", "persona_id": persona})).await;
        claim(one, &task).await;
        tasks.push(task);
    }
    follow(other, one).await;
    let notaries = nodes.each_ref().map(|node| tokio::spawn(node.clone().run_notary()));
    let ends = tasks.iter().zip(nodes.iter().cycle()).map(|(task, node)| {
        let (task, node) = (task.clone(), node.clone());
        tokio::spawn(async move { complete(&node, &task).await })
    });
    for end in ends.collect::<Vec<_>>() {
        end.await.unwrap();
    }
    follow(one, other).await;
    one.settle_all().await.unwrap();
    let (mut hashes, mut before) = (BTreeSet::new(), BTreeSet::new());
    for task in &tasks {
        let of_task = receipts(one, task).await;
        assert_eq!(of_task.len(), 1, "{task} has one receipt");
        let chain = &of_task[0]["wire"]["payload"]["chain"];
        hashes.insert(chain["receipt_hash"].to_string());
        before.insert(chain["previous_receipt_hash"].to_string());
    }
    assert_eq!(before.len(), 8, "no two follow the same one");
    assert_eq!(before.difference(&hashes).count(), 1, "the first follows none");
    notaries.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_two_nodes_answer_is_answered_once() {
    let nodes = nodes();
    let runners = nodes.each_ref().map(|node| tokio::spawn(node.clone().run_field_tasks()));
    for number in 0..10 {
        let task = submit(&nodes[number % 2], json!({"input": format!("ships {number}")})).await;
        let done = async || {
            let [one, other] = &nodes;
            follow(one, other).await;
            one.task(&caller("alice"), &task).await.is_ok_and(|task| task.status.is_terminal())
        };
        eventually("the Task is answered", done).await;
        let ended = nodes[0].task(&caller("alice"), &task).await.unwrap();
        assert_eq!(ended.status, TaskState::Completed, "{ended:?}");
    }
    runners.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_nodes_change_at_the_same_time_is_changed_by_both() {
    let nodes = nodes();
    let request = CreateWorkspaceRequest::parse(json!({"name": "w", "root": "."})).unwrap();
    let mut lead = asked("alice");
    lead.caller.authority = 8;
    let made = nodes[0].create_workspace(&lead, request).await.unwrap();
    follow(&nodes[1], &nodes[0]).await;
    for round in 0..20 {
        let changes = [json!({"name": format!("w{round}")}), json!({"metadata": {"round": round}})];
        let changing = nodes.iter().zip(changes).map(|(node, change)| {
            let (node, id, lead) = (node.clone(), made.envelope.id.clone(), lead.clone());
            tokio::spawn(async move {
                let request = UpdateWorkspaceRequest::parse(change).unwrap();
                node.update_workspace(&lead, &id, request).await.unwrap();
            })
        });
        for change in changing.collect::<Vec<_>>() {
            change.await.unwrap();
        }
        follow(&nodes[0], &nodes[1]).await;
        let kept = nodes[0].workspace(&caller("alice"), &made.envelope.id).await.unwrap();
        assert_eq!(kept.name, format!("w{round}"));
        assert_eq!(kept.envelope.metadata.get("round"), Some(&json!(round)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_of_two_nodes_that_claim_at_once_get_each_task_once() {
    let nodes = nodes();
    let [one, other] = &nodes;
    let persona = persona(one, "required").await;
    let body = || json!({"input": "count", "persona_id": persona, "metadata": {"queue": "q"}});
    let mut tasks = BTreeSet::new();
    for _ in 0..8 {
        tasks.insert(submit(one, body()).await);
    }
    follow(other, one).await;
    let workers = nodes.iter().cycle().take(10).enumerate().map(|(number, node)| {
        let node = node.clone();
        tokio::spawn(async move {
            let request = ClaimNextRequest::parse(json!({"queue": "q"})).unwrap();
            let taken = node.claim_next(&asked(&format!("w{number}")), &request).await;
            taken.unwrap().map(|task| task.envelope.id)
        })
    });
    let mut taken = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        taken.extend(worker.await.unwrap());
    }
    taken.sort();
    assert_eq!(taken, tasks.into_iter().collect::<Vec<_>>(), "each once, and none was left");
    // A worker of the one node waits for what is submitted at the other.
    let waiting = other.clone();
    let waits = tokio::spawn(async move {
        let request = ClaimNextRequest::parse(json!({"queue": "q", "wait_ms": 30_000})).unwrap();
        waiting.claim_next(&asked("waits"), &request).await.unwrap().unwrap().envelope.id
    });
    let late = submit(one, body()).await;
    assert_eq!(waits.await.unwrap(), late);
}
