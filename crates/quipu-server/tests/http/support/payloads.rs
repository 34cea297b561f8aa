//! Payloads that are right, to be made wrong by the tests.

use serde_json::{Value, json};

pub(crate) fn register(id: &str) -> Value {
    json!({"id": id, "role": "researcher", "interests": [], "required_operations": []})
}

pub(crate) fn committed(content: &str) -> Value {
    json!({
        "mode": "committed", "type": "finding", "content": content,
        "intent": {"purpose": "to test"},
        "confidence": {"score": 0.5, "reasoning": "it is a test"},
    })
}

pub(crate) fn draft(content: &str) -> Value {
    json!({"mode": "draft", "type": "observation", "content": content, "intent": {"purpose": "to test"}})
}

pub(crate) fn attune() -> Value {
    json!({"scope": {"role": "researcher", "max_units": 100, "include_own": true}})
}

pub(crate) fn envelope(operation: &str, agent: &str, id: &str, payload: &Value) -> Value {
    json!({
        "protocol": "akashik", "version": "0.1.0", "id": id, "operation": operation,
        "agent_id": agent, "session_id": null, "epoch": 0, "payload": payload,
    })
}
