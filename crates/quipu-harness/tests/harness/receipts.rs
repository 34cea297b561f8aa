//! Every Task that ended has an Outcome and a Receipt that anybody can check.

use quipu_harness::{Harness, Page};
use quipu_replay::receipt::{ReceiptKey, Trusted, canonical_bytes, read_document, verify};
use quipu_wire::harn::{
    AppendEventRequest, CancelTaskRequest, HarnErrorCode, ResourceKind, Sha256, TaskState,
    VerifyReceiptRequest,
};
use serde_json::{Value, json};

use crate::support::{
    asked, caller, claim, complete, coordinate, engine, eventually, harness, open, persona, record,
    register, submit,
};

async fn receipts(harness: &Harness, task: &str) -> Vec<Value> {
    let page = Page::first(ResourceKind::Receipt);
    let list = harness.task_receipts(&caller("alice"), task, page).await.unwrap();
    list.data.into_iter().map(|each| serde_json::to_value(each).unwrap()).collect()
}

/// The one receipt of a Task, without what is around it.
async fn receipt(harness: &Harness, task: &str) -> Value {
    let all = receipts(harness, task).await;
    assert_eq!(all.len(), 1, "{all:?}");
    all[0]["wire"]["payload"].clone()
}

fn keys(harness: &Harness) -> Vec<ReceiptKey> {
    harness.options().own_keys()
}

fn assert_holds(harness: &Harness, receipt: &Value) {
    let keys = keys(harness);
    let verdict = verify(receipt, Trusted { keys: &keys, ..Trusted::default() });
    assert!(verdict.is_valid(), "{:?}", verdict.findings);
    assert_eq!(verdict.valid_signatures(), 1);
}

fn hash(receipt: &Value) -> &Value {
    &receipt["chain"]["receipt_hash"]
}

async fn worked(harness: &Harness) -> String {
    let persona = persona(harness, "required").await;
    let task = submit(harness, json!({"input": "count", "persona_id": persona})).await;
    claim(harness, &task).await;
    task
}

#[tokio::test]
async fn a_completed_task_has_a_receipt_of_what_its_worker_recorded() {
    let harness = harness();
    let task = worked(&harness).await;
    let answer = json!({"model": "m-1", "usage": {"prompt_tokens": 5, "completion_tokens": 3}});
    let llm = json!({"key": "llm:main:1", "kind": "llm_provider_response", "value": answer});
    record(&harness, &task, llm).await;
    let secret = json!({"key": "secret:token", "kind": "secret_value", "value": "canary-s3cret"});
    record(&harness, &task, secret).await;
    for event in [
        json!({"event": "agent.tool_use", "payload": {"tool_call_id": "c1", "name": "grep",
            "input": {"q": 1}}}),
        json!({"event": "agent.tool_result", "payload": {"tool_call_id": "c1", "output": "found",
            "status": "ok", "fs_writes": [{"path": "/a", "operation": "create"}]}}),
        json!({"event": "agent.message", "payload": {"text": "canary-internal"},
            "visibility": "internal"}),
    ] {
        let request = AppendEventRequest::parse(event).unwrap();
        harness.append_event(&asked("bob"), &task, request).await.unwrap();
    }
    complete(&harness, &task).await;

    let receipt = receipt(&harness, &task).await;
    assert_holds(&harness, &receipt);
    assert_eq!(receipt["lifecycle"]["final_state"], "SUCCEEDED");
    assert_eq!(receipt["identifiers"]["persona_ref"], "persona_reviewer");
    assert_eq!(receipt["identifiers"]["session_id"], "session_default");
    assert_eq!(receipt["issued_at"], receipt["lifecycle"]["completed_at"]);
    assert_eq!(receipt["signatures"][0]["signed_at"], receipt["issued_at"]);
    assert_eq!(receipt["model_route"]["chosen_model"]["model"], "m-1");
    let consumed = &receipt["autonomy_budget"]["consumed"];
    assert_eq!((&consumed["input_tokens"], &consumed["output_tokens"]), (&json!(5), &json!(3)));
    assert_eq!(consumed["tool_calls"], 1);
    let call = &receipt["side_effects"]["tool_calls"][0];
    assert_eq!((&call["tool"], &call["status"]), (&json!("grep"), &json!("succeeded")));
    assert_eq!(call["input_hash"], Sha256::of_json(&json!({"q": 1})).unwrap().to_string());
    assert_eq!(receipt["side_effects"]["fs_writes"][0]["path"], "/a");
    let materials = receipt["replay_input"]["materials"].as_array().unwrap();
    assert_eq!(materials[0]["kind"], "event_log");
    assert_eq!(materials[1]["id"], "llm:main:1");
    assert_eq!(materials[1]["sha256"], Sha256::of_json(&answer).unwrap().to_string());
    let redacted: Vec<_> =
        receipt["redactions"].as_array().unwrap().iter().map(|each| &each["field"]).collect();
    assert!(redacted.contains(&&json!("/replay_input/materials/secret:token")), "{redacted:?}");
    assert_eq!(redacted.len(), 2, "the secret and the internal message: {redacted:?}");
    let text = receipt.to_string();
    assert!(!text.contains("canary"), "{text}");
}

#[tokio::test]
async fn the_event_log_that_a_receipt_names_is_what_is_told_of_the_task() {
    let harness = harness();
    let task = worked(&harness).await;
    complete(&harness, &task).await;
    let receipt = receipt(&harness, &task).await;
    let log = &receipt["replay_input"]["materials"][0];
    let id = log["uri"].as_str().unwrap().strip_prefix("artifact://").unwrap();
    let content = harness.artifact_content(&caller("alice"), id).await.unwrap();
    assert_eq!(Sha256::of(&content.bytes).to_string(), log["sha256"].as_str().unwrap());
    assert_eq!(content.mime_type, "application/jsonl");
    let mut lines: Vec<Value> = content
        .bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let scope = quipu_harness::EventScope::task(&task);
    let told = harness.events(&caller("alice"), scope, None, 100).await.unwrap();
    let told: Vec<Value> =
        told.data.into_iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    let last = lines.pop().unwrap();
    assert_eq!(last["object"], "task_binding");
    assert_eq!(lines.last().unwrap()["event"], "task.completed");
    for line in &mut lines {
        let bound = line["metadata"].as_object_mut().unwrap().remove("bound");
        assert!(bound.unwrap()["payload"].is_string(), "{line}");
    }
    assert_eq!(lines[..], told[..lines.len()], "the log is the stream up to the ending");
    assert_eq!(told.last().unwrap()["event"], "receipt.issued");
}

#[tokio::test]
async fn a_canceled_task_that_nobody_began_has_an_outcome_and_a_receipt() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let task = submit(&harness, json!({"input": "count", "persona_id": persona})).await;
    let request = CancelTaskRequest { reason: Some("no need".to_owned()) };
    let ended = harness.cancel_task(&asked("alice"), &task, request.clone()).await.unwrap();
    assert_eq!(ended.status, TaskState::Canceled);
    let receipt = receipt(&harness, &task).await;
    assert_holds(&harness, &receipt);
    assert_eq!(receipt["lifecycle"]["final_state"], "CANCELED");
    assert_eq!(receipt["lifecycle"]["started_at"], receipt["lifecycle"]["created_at"]);
    let outcome = harness.outcome(&caller("alice"), &ended.outcome_id.unwrap()).await.unwrap();
    assert_eq!(outcome.summary, "canceled: no need");
    assert_eq!(outcome.receipt_id, ended.receipt_id);
    let again = harness.cancel_task(&asked("alice"), &task, request).await.unwrap();
    assert_eq!(again.receipt_id, outcome.receipt_id, "canceling again issues nothing");
}

#[tokio::test]
async fn an_akashik_task_that_fails_is_retried_and_completed_has_a_receipt_of_each_ending() {
    let harness = harness();
    for agent in ["ann", "ben"] {
        register(&harness, agent).await;
    }
    let new = json!({"id": "t-1", "title": "count", "intent": {"purpose": "to know"}});
    coordinate(&harness, "m1", "ann", json!({"action": "create", "task": new})).await;
    let step = |action: &str| json!({"action": action, "task_id": "t-1"});
    coordinate(&harness, "m2", "ben", step("claim")).await;
    coordinate(&harness, "m3", "ben", step("start")).await;
    let fail = json!({"action": "fail", "task_id": "t-1", "reason": "no ships"});
    coordinate(&harness, "m4", "ben", fail).await;
    // It is tried again before anybody saw to the receipt of the first ending.
    coordinate(&harness, "m5", "ben", step("retry")).await;
    coordinate(&harness, "m6", "ben", step("claim")).await;
    coordinate(&harness, "m7", "ben", step("start")).await;
    coordinate(&harness, "m8", "ben", step("complete")).await;
    assert!(harness.field().with_state(|state| state.endings.waits("t-1")));
    harness.settle_all().await.unwrap();
    assert!(!harness.field().with_state(|state| state.endings.waits("t-1")));
    let all = receipts(&harness, "t-1").await;
    let bare: Vec<&Value> = all.iter().map(|each| &each["wire"]["payload"]).collect();
    assert_eq!(bare.len(), 2);
    bare.iter().for_each(|receipt| assert_holds(&harness, receipt));
    assert_eq!(bare[0]["lifecycle"]["final_state"], "FAILED");
    assert_eq!(bare[0]["lifecycle"]["failure"]["message"], "no ships");
    assert_eq!(bare[1]["lifecycle"]["final_state"], "SUCCEEDED");
    assert_eq!(bare[1]["chain"]["previous_receipt_hash"], *hash(bare[0]));
    assert_eq!(
        (&bare[0]["receipt_id"], &bare[1]["receipt_id"]),
        (&json!("receipt_t-1"), &json!("receipt_t-1_2"))
    );
    let task = harness.task(&caller("ann"), "t-1").await.unwrap();
    assert_eq!(task.status, TaskState::Completed);
}

#[tokio::test]
async fn the_receipts_of_a_session_follow_each_other() {
    let harness = harness();
    let mut previous = Value::Null;
    for _ in 0..3 {
        let task = worked(&harness).await;
        complete(&harness, &task).await;
        let receipt = receipt(&harness, &task).await;
        assert_eq!(receipt["chain"]["previous_receipt_hash"], previous);
        previous = hash(&receipt).clone();
        let id = receipt["receipt_id"].as_str().unwrap();
        let request = VerifyReceiptRequest::default();
        let checked = harness.verify_receipt(&caller("alice"), id, request).await.unwrap();
        assert!(checked.valid, "{:?}", checked.reason);
    }
}

#[tokio::test]
async fn what_ended_before_a_crash_is_settled_after_it_and_once() {
    let engine = engine();
    let first = open(&engine);
    register(&first, "ann").await;
    let new = json!({"id": "t-1", "title": "count", "intent": {"purpose": "to know"}});
    coordinate(&first, "m1", "ann", json!({"action": "create", "task": new})).await;
    coordinate(&first, "m2", "ann", json!({"action": "cancel", "task_id": "t-1"})).await;
    first.field().close().await;
    drop(first);
    let again = open(&engine);
    assert!(again.field().with_state(|state| state.endings.waits("t-1")));
    let notary = tokio::spawn(again.clone().run_notary());
    let settled = async || !again.field().with_state(|state| state.endings.waits("t-1"));
    eventually("the Task has its receipt", settled).await;
    let stored = receipt(&again, "t-1").await;
    assert_holds(&again, &stored);
    again.settle_all().await.unwrap();
    again.field().close().await;
    notary.await.unwrap();
    drop(again);
    let last = open(&engine);
    assert_eq!(receipt(&last, "t-1").await, stored);
}

#[tokio::test]
async fn a_persona_without_receipts_leaves_an_outcome_and_a_task_that_ended() {
    let harness = harness();
    let persona = persona(&harness, "disabled").await;
    let task = submit(&harness, json!({"input": "count", "persona_id": persona})).await;
    claim(&harness, &task).await;
    complete(&harness, &task).await;
    let shown = harness.task(&caller("alice"), &task).await.unwrap();
    assert_eq!((shown.status, shown.receipt_id), (TaskState::Completed, None));
    let page = Page::first(ResourceKind::Outcome);
    let outcomes = harness.outcomes(&caller("alice"), page, Some(&task)).await.unwrap();
    assert_eq!(outcomes.data.len(), 1);
    assert!(receipts(&harness, &task).await.is_empty());
}

#[tokio::test]
async fn a_receipt_reads_the_same_in_each_of_its_forms() {
    let harness = harness();
    let task = worked(&harness).await;
    complete(&harness, &task).await;
    let stored = receipt(&harness, &task).await;
    let (id, alice) = (stored["receipt_id"].as_str().unwrap(), caller("alice"));
    let json = harness.receipt_json(&alice, id).await.unwrap();
    let cbor = harness.receipt_cbor(&alice, id).await.unwrap();
    let resource = harness.receipt(&alice, id).await.unwrap();
    let resource = serde_json::to_vec(&resource).unwrap();
    for bytes in [&json, &cbor, &resource] {
        assert_eq!(read_document(bytes).unwrap().0, stored);
    }
    let typed = serde_json::from_value(stored).unwrap();
    assert_eq!(json, canonical_bytes(&typed).unwrap());
}

#[tokio::test]
async fn a_check_trusts_the_key_and_the_time_that_it_is_given() {
    let harness = harness();
    let task = worked(&harness).await;
    complete(&harness, &task).await;
    let id = receipt(&harness, &task).await["receipt_id"].as_str().unwrap().to_owned();
    let check = |trust_anchor: Option<String>, at_time: Option<&str>| {
        let at_time = at_time.map(str::to_owned);
        let (harness, id) = (harness.clone(), id.clone());
        async move {
            let request = VerifyReceiptRequest { trust_anchor, at_time };
            harness.verify_receipt(&caller("alice"), &id, request).await
        }
    };
    let own = keys(&harness)[0].to_string();
    assert!(check(Some(own), Some("2099-01-01T00:00:00Z")).await.unwrap().valid);
    let stranger = quipu_replay::receipt::ReceiptSigner::from_seed("key-1", &[8; 32]);
    let by_stranger = check(Some(stranger.public().to_string()), None).await.unwrap();
    assert!(!by_stranger.valid);
    assert!(by_stranger.reason.unwrap().contains("signature"));
    let early = check(None, Some("1999-01-01T00:00:00Z")).await.unwrap();
    assert!(!early.valid && early.reason.unwrap().starts_with("time:"));
    let refused = check(Some("nonsense".to_owned()), None).await.unwrap_err();
    assert_eq!(refused.param.as_deref(), Some("trust_anchor"));
    let missing = harness.receipt(&caller("alice"), "receipt_none").await.unwrap_err();
    assert_eq!(missing.code, HarnErrorCode::ResourceNotFound);
}
