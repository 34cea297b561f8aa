//! A receipt of our own making holds, and each way to break it is named by its place.

use serde_json::{Value, json};

use super::check;

fn receipt() -> Value {
    let digest = format!("sha256:{}", "0".repeat(64));
    json!({
        "schema": "receipt-2026-04-25", "receipt_id": "receipt_1", "issued_at": "2026-05-01T08:00:00Z",
        "subject": {"object": "task", "id": "task_1"}, "issuer": {"id": "h", "kind": "harness"},
        "identifiers": {"workspace_ref": "w", "session_id": "s", "task_id": "task_1"},
        "lifecycle": {"started_at": "2026-05-01T08:00:00Z", "completed_at": "2026-05-01T08:00:00.5Z",
                      "final_state": "SUCCEEDED"},
        "trust": {"start_tier": "shadow", "end_tier": "act_auto"},
        "autonomy_budget": {"consumed": {"usd": 0.5, "tool_calls": 2}},
        "replay_input": {"determinism": "best_effort", "materials": [{"kind": "artifact", "metadata": {}}]},
        "model_route": {"chosen_model": {"provider": "p", "model": "m"}, "alternatives_considered": [],
                        "route_policy_reason": "r"},
        "cost": {"currency": "EUR", "total": 0, "provider_breakdown": []},
        "side_effects": {"fs_writes": [], "network_egress": [], "tool_calls": [], "a2a_handoffs": []},
        "final_artifacts": [], "chain": {"previous_receipt_hash": null, "receipt_hash": digest},
    })
}

#[track_caller]
fn broken_at(pointer: &str, value: Value) -> String {
    let mut receipt = receipt();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = receipt.pointer_mut(parent).unwrap();
    match parent {
        Value::Object(map) => _ = map.insert(name.to_owned(), value),
        Value::Array(items) => items.push(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            panic!("{pointer} has no place")
        }
    }
    let found = check(&receipt);
    let [breach] = found.as_slice() else { panic!("{pointer}: {found:?}") };
    breach.path.clone()
}

#[test]
fn a_whole_receipt_holds() {
    assert_eq!(check(&receipt()), []);
}

#[test]
fn every_required_member_is_missed_by_its_name() {
    let whole = receipt();
    for name in whole.as_object().unwrap().keys() {
        let mut lacking = whole.clone();
        lacking.as_object_mut().unwrap().remove(name);
        let found = check(&lacking);
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found[0].to_string(), format!("/{name}: is required"));
    }
}

#[test]
fn each_breach_is_named_by_its_place() {
    for (pointer, value) in [
        ("/mood", json!("good")),
        ("/schema", json!("receipt-2026-04-26")),
        ("/receipt_id", json!("")),
        ("/issued_at", json!("yesterday")),
        ("/subject/object", json!("session")),
        ("/issuer/name", json!(null)),
        ("/lifecycle/failure", json!("broke")),
        ("/lifecycle/final_state", json!("COMPLETED")),
        ("/trust/end_tier", json!("god")),
        ("/autonomy_budget/consumed/tool_calls", json!(1.5)),
        ("/autonomy_budget/consumed/usd", json!(-1)),
        ("/replay_input/materials/1", json!({"kind": "artifact", "uri": "u"})),
        ("/cost/currency", json!("euro")),
        ("/chain/receipt_hash", json!("sha256:12")),
        ("/chain/previous_receipt_hash", json!(7)),
        ("/metadata", json!([])),
        ("/signatures", json!({})),
        ("/deltas", json!([3])),
    ] {
        let at = broken_at(pointer, value);
        assert!(at == pointer || at == "/deltas/0" && pointer == "/deltas", "{pointer}: {at}");
    }
}

#[test]
fn what_has_nothing_to_do_with_a_receipt_is_refused_briefly() {
    assert_eq!(check(&json!(3))[0].to_string(), "the receipt: must be an object");
    let foreign: Value =
        (0..1000).map(|n| (format!("k{n}"), json!(n))).collect::<serde_json::Map<_, _>>().into();
    assert_eq!(check(&foreign).len(), 100);
}
