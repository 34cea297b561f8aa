//! Whatever workers and others do to a Task, in whatever order: it goes only where the table of states allows,
//! tells each step once, and is the same after the log was read again.

use std::sync::Arc;

use proptest::prelude::*;
use quipu_harness::{EventScope, Harness};
use quipu_log::Engine;
use quipu_wire::harn::{
    AppendEventRequest, AppendTaskMessageRequest, AwaitTaskRequest, CancelTaskRequest,
    ClaimTaskRequest, CompleteTaskRequest, Event, FailTaskRequest, HarnTask, TaskState,
};
use serde_json::json;

use crate::support::{asked, caller, engine, open, persona, submit};

#[derive(Debug, Clone, Copy)]
enum Step {
    Claim,
    Tell,
    Await,
    Answer,
    Complete,
    Fail,
    Cancel,
}

fn steps() -> impl Strategy<Value = Vec<(Step, &'static str)>> {
    let step = prop_oneof![
        4 => Just(Step::Claim),
        2 => Just(Step::Tell),
        2 => Just(Step::Await),
        2 => Just(Step::Answer),
        1 => Just(Step::Complete),
        1 => Just(Step::Fail),
        1 => Just(Step::Cancel),
    ];
    let who = prop_oneof![Just("alice"), Just("bob"), Just("eve")];
    prop::collection::vec((step, who), 1..12)
}

/// Takes a step; whether it was allowed shows in what is told.
async fn take(harness: &Harness, task: &str, step: Step, who: &str) {
    let asked = asked(who);
    let parse = "a body that is right";
    match step {
        Step::Claim => {
            let request = ClaimTaskRequest::parse(None).expect(parse);
            harness.claim_task(&asked, task, &request).await.ok();
        }
        Step::Tell => {
            let request = AppendEventRequest::parse(json!({"event": "agent.message"}));
            harness.append_event(&asked, task, request.expect(parse)).await.ok();
        }
        Step::Await => {
            let request = AwaitTaskRequest::parse(json!({"for": "input", "reason": "how much?"}));
            harness.await_answer(&asked, task, request.expect(parse)).await.ok();
        }
        Step::Answer => {
            let body = json!({"kind": "input", "message": {"role": "user", "parts": []}});
            let request = AppendTaskMessageRequest::parse(body).expect(parse);
            harness.append_task_message(&asked, task, request).await.ok();
        }
        Step::Complete => {
            let request = CompleteTaskRequest::parse(json!({"summary": "done"})).expect(parse);
            harness.complete_task(&asked, task, request).await.ok();
        }
        Step::Fail => {
            let request = FailTaskRequest::parse(json!({"message": "no"})).expect(parse);
            harness.fail_task(&asked, task, request).await.ok();
        }
        Step::Cancel => {
            harness.cancel_task(&asked, task, CancelTaskRequest::default()).await.ok();
        }
    }
}

async fn look(harness: &Harness, task: &str) -> (HarnTask, Vec<Event>) {
    let events = harness.events(&caller("alice"), EventScope::task(task), None, 200).await;
    (harness.task(&caller("alice"), task).await.unwrap(), events.unwrap().data)
}

/// The states that the Events of a Task tell, in order.
fn told(events: &[Event]) -> Vec<TaskState> {
    let states = events.iter().filter(|event| event.event.as_str().starts_with("task."));
    states
        .map(|event| TaskState::parse(event.payload["status"].as_str().unwrap()).unwrap())
        .collect()
}

async fn live(engine: &Arc<dyn Engine>, steps: &[(Step, &'static str)]) {
    let harness = open(engine);
    let persona = persona(&harness, "required").await;
    let task = submit(&harness, json!({"persona_id": persona, "input": "x"})).await;
    let mut before = look(&harness, &task).await;
    for (step, who) in steps {
        take(&harness, &task, *step, who).await;
        let now = look(&harness, &task).await;
        assert!(now.1.starts_with(&before.1), "what was told stays");
        if before.0.status.is_terminal() {
            assert_eq!(now, before, "nothing is told of what has ended");
        }
        before = now;
    }
    let (shown, events) = before;
    let states = told(&events);
    assert_eq!(states.first(), Some(&TaskState::Submitted));
    for pair in states.windows(2) {
        assert!(pair[0].may_become(pair[1]), "{} to {}", pair[0], pair[1]);
    }
    assert_eq!(states.last(), Some(&shown.status), "each step is told once");
    assert_eq!(shown.receipt_id.is_some(), shown.status.is_terminal());
    harness.field().close().await;
    assert_eq!(look(&open(engine), &task).await, (shown, events), "the log is all there is");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_task_goes_only_where_the_table_allows_and_its_log_tells_all_of_it(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        runtime.block_on(live(&engine(), &steps));
    }
}
