//! Payloads of RECORD, and what a case remembers about a recorded unit.

use serde_json::{Value, json};

/// A unit that the Field accepted.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) id: String,
    pub(crate) epoch: u64,
    pub(crate) conflicts: Vec<String>,
    pub(crate) content: String,
}

/// A committed finding that every level accepts.
pub(crate) fn finding(content: String) -> Value {
    committed("finding", content)
}

/// A committed unit of this type.
pub(crate) fn committed(kind: &str, content: String) -> Value {
    json!({
        "mode": "committed", "type": kind, "content": Value::String(content),
        "intent": {"purpose": "Test whether the Field keeps to the protocol"},
        "confidence": {"score": 0.7, "reasoning": "It was made up for a test"},
    })
}

/// A draft of an observation, without confidence.
pub(crate) fn draft(content: String) -> Value {
    json!({
        "mode": "draft", "type": "observation", "content": Value::String(content),
        "intent": {"purpose": "Test whether the Field keeps drafts"},
    })
}

/// The `relations` key with one relation in it.
pub(crate) fn relation(kind: &str, target: &str) -> Value {
    json!({"relations": [{"type": kind, "target_id": target}]})
}

/// The `confidence` key with this score.
pub(crate) fn score(score: f64) -> Value {
    json!({"confidence": {"score": score, "reasoning": "It was made up for a test"}})
}
