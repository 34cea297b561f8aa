//! A receipt tells which models were asked and what they used, where the answers say so, and which tools were called.

use quipu_harness::Page;
use quipu_wire::harn::{AppendEventRequest, ResourceKind};
use serde_json::{Value, json};

use crate::support::{asked, caller, claim, complete, harness, persona, record, submit};

/// The receipt of a run with these answers and events.
async fn receipt_of(answers: &[(&str, &str, Value)], events: &[Value]) -> Value {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let task = submit(&harness, json!({"input": "count", "persona_id": persona})).await;
    claim(&harness, &task).await;
    for event in events {
        let request = AppendEventRequest::parse(event.clone()).unwrap();
        harness.append_event(&asked("bob"), &task, request).await.unwrap();
    }
    for (key, kind, value) in answers {
        let body = json!({"key": key, "kind": kind, "value": value, "request": {"q": key}});
        record(&harness, &task, body).await;
    }
    complete(&harness, &task).await;
    let page = Page::first(ResourceKind::Receipt);
    let list = harness.task_receipts(&caller("alice"), &task, page).await.unwrap();
    json!(list.data[0])["wire"]["payload"].clone()
}

#[tokio::test]
async fn each_model_is_named_with_what_it_used() {
    let llm = "llm_provider_response";
    let receipt = receipt_of(
        &[
            (
                "llm:main:1",
                llm,
                json!({"status": 200, "body": {"model": "gpt-x",
                "usage": {"prompt_tokens": 11, "completion_tokens": 7}}}),
            ),
            (
                "llm:main:2",
                llm,
                json!({"model": "claude-x", "type": "message", "provider": "anthropic",
                "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5}}),
            ),
            (
                "llm:main:3",
                llm,
                json!({"model": "gpt-x", "usage": {"prompt_tokens": 1, "completion_tokens": 1}}),
            ),
            ("llm:main:4", llm, json!("hi")),
        ],
        &[],
    )
    .await;
    let used: Vec<_> = receipt["cost"]["provider_breakdown"].as_array().unwrap().iter().collect();
    let facts = |it: &Value| {
        json!([
            it["provider"],
            it["model"],
            it["input_tokens"],
            it["output_tokens"],
            it["metadata"]
        ])
    };
    assert_eq!(
        used.into_iter().map(facts).collect::<Vec<_>>(),
        [
            json!(["anthropic", "claude-x", 100, 5, {"calls": 1}]),
            json!(["unknown", "gpt-x", 12, 8, {"calls": 2}]),
            json!(["unknown", "unknown", null, null, {"calls": 1, "calls_of_unknown_usage": 1}]),
        ]
    );
    let chosen = &receipt["model_route"]["chosen_model"];
    assert_eq!((&chosen["provider"], &chosen["model"]), (&json!("unknown"), &json!("gpt-x")));
    let consumed = &receipt["autonomy_budget"]["consumed"];
    assert_eq!((&consumed["input_tokens"], &consumed["output_tokens"]), (&json!(112), &json!(13)));
}

#[tokio::test]
async fn a_model_that_no_answer_names_is_unknown_and_not_none() {
    let receipt = receipt_of(&[("llm:main:1", "llm_provider_response", json!("hi"))], &[]).await;
    assert_eq!(receipt["model_route"]["chosen_model"]["model"], "unknown");
    let none = receipt_of(&[], &[]).await;
    assert_eq!(none["model_route"]["route_policy_reason"], "no model call was made");
}

#[tokio::test]
async fn answers_of_tools_are_calls_and_one_that_was_told_of_is_one() {
    let told =
        json!({"event": "agent.tool_use", "payload": {"tool_call_id": "c1", "name": "grep"}});
    let receipt = receipt_of(
        &[
            ("tool:grep:c1", "tool_result", json!("found")),
            ("mcp:crm:lookup-1", "mcp_tool_return", json!({"isError": true, "content": []})),
            (
                "tool:fetch:1",
                "tool_result",
                json!({"$error": {"code": "OSError", "message": "gone"}}),
            ),
        ],
        &[told],
    )
    .await;
    let calls = receipt["side_effects"]["tool_calls"].as_array().unwrap();
    let facts: Vec<_> =
        calls.iter().map(|it| json!([it["tool"], it["call_id"], it["status"]])).collect();
    assert_eq!(
        facts,
        [
            json!(["grep", "c1", "succeeded"]),
            json!(["crm", "mcp:crm:lookup-1", "failed"]),
            json!(["fetch", "tool:fetch:1", "failed"]),
        ]
    );
    assert!(
        calls.iter().all(|call| call["input_hash"].is_string() && call["output_hash"].is_string())
    );
    assert_eq!(receipt["autonomy_budget"]["consumed"]["tool_calls"], 3);
}
