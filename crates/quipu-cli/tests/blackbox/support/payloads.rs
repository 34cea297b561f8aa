//! Payloads that the tests send, and short looks into what comes back.

use quipu_testbed::Answer;
use serde_json::{Value, json};

/// A committed finding.
pub(crate) fn finding(content: &str) -> Value {
    json!({"mode": "committed", "type": "finding", "content": content,
           "intent": {"purpose": "to test"},
           "confidence": {"score": 0.8, "reasoning": "we wrote it"}})
}

/// A draft without confidence.
pub(crate) fn draft(content: &str) -> Value {
    json!({"mode": "draft", "type": "observation", "content": content,
           "intent": {"purpose": "to test"}})
}

/// A finding with one relation.
pub(crate) fn relating(content: &str, relation: &str, target: &str) -> Value {
    let mut payload = finding(content);
    payload["relations"] = json!([{"type": relation, "target_id": target}]);
    payload
}

/// Everything there is, own units too.
pub(crate) fn scope(max_units: usize) -> Value {
    json!({"role": "tester", "max_units": max_units, "include_own": true})
}

/// The units of an ATTUNE answer, without their scores.
pub(crate) fn units_of(answer: &Value) -> Vec<Value> {
    let record = answer["record"].as_array().unwrap_or_else(|| panic!("no record in {answer}"));
    record.iter().map(|entry| entry["memory_unit"].clone()).collect()
}

/// The keys of an object, sorted.
pub(crate) fn keys_of(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Checks that an answer is an error in the protocol's shape, and gives its message.
#[track_caller]
pub(crate) fn refused(answer: &Answer, status: u16, code: &str) -> String {
    let body = answer.json();
    assert_eq!((answer.status, body["code"].as_str()), (status, Some(code)), "{body}");
    let message = body["message"].as_str().unwrap_or_default();
    assert!(!message.is_empty(), "{body}");
    assert!(body["recoverable"].is_boolean(), "{body}");
    assert!(body["suggested_action"].is_string(), "{body}");
    let rejects = matches!(body["operation"].as_str(), Some("RECORD" | "REGISTER"));
    let rejected = rejects.then_some("rejected");
    assert_eq!(body["status"].as_str(), rejected, "{body}");
    assert_eq!(body["rejection_reason"].as_str(), rejected.map(|_| message), "{body}");
    message.to_owned()
}
