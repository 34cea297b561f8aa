//! `quipu receipt verify` from outside, and the same receipts under an independent check in Python.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use quipu_replay::{
    cbor,
    receipt::{ReceiptSigner, receipt_hash},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::quipu;

/// A receipt of our own making, with numbers and texts that are easy to get wrong, sealed and signed.
fn receipt(previous: &Value) -> Value {
    let mut receipt = json!({
        "schema": "receipt-2026-04-25", "receipt_id": "receipt_é\u{1f4dc}", "issued_at": "2026-05-01T08:00:09Z",
        "subject": {"object": "task", "id": "task_1"}, "issuer": {"id": "harness_test", "kind": "harness"},
        "identifiers": {"workspace_ref": "w", "session_id": "s", "task_id": "task_1"},
        "lifecycle": {"created_at": "2026-05-01T08:00:00Z", "started_at": "2026-05-01T08:00:01Z",
                      "completed_at": "2026-05-01T08:00:09Z", "final_state": "SUCCEEDED", "failure": null},
        "trust": {"start_tier": "act_auto", "end_tier": "act_auto"},
        "autonomy_budget": {"consumed": {"usd": 0.1842, "input_tokens": 1800}},
        "replay_input": {"determinism": "byte_deterministic", "materials": []},
        "model_route": {"chosen_model": {"provider": "none", "model": "none"}, "alternatives_considered": [],
                        "route_policy_reason": "no model call was made"},
        "cost": {"currency": "USD", "total": 2.0, "provider_breakdown": []},
        "side_effects": {"fs_writes": [], "network_egress": [], "tool_calls": [], "a2a_handoffs": []},
        "final_artifacts": [], "chain": {"previous_receipt_hash": previous},
        "redactions": [], "signatures": [],
        "metadata": {"numbers": [1e21, 1e-7, 123456789.125, -0.5, 1e-6, 5e-324, 1.7976931348623157e308, 0.1],
                     "text": "tab\t quote\" \u{7f} \u{2028} back\\", "\u{e000}": 1, "\u{1f600}": 2},
    });
    let hash = receipt_hash(&receipt).unwrap();
    receipt["chain"]["receipt_hash"] = json!(hash);
    receipt["signatures"] = json!([signer().sign(&hash, None)]);
    receipt
}

fn signer() -> ReceiptSigner {
    ReceiptSigner::from_seed("key_1", &[5; 32])
}

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn check_with_python(files: &[&Path]) -> (Option<i32>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/blackbox/receipt_check.py");
    let output = Command::new("python3").arg(script).args(files).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_receipt_is_verified_in_every_form_and_python_agrees_on_its_hash() {
    let files = Files::new();
    let receipt = receipt(&Value::Null);
    let resource = json!({"object": "receipt", "id": "receipt_1", "wire": {"payload": receipt}});
    let key = signer().public().to_string();
    let json = files.write("receipt.json", serde_json::to_vec_pretty(&receipt).unwrap());
    let wrapped = files.write("resource.json", resource.to_string());
    let cbor = files.write("receipt.cbor", cbor::encode(&receipt).unwrap());
    for (file, form) in [(&json, "JSON"), (&wrapped, "JSON resource"), (&cbor, "CBOR")] {
        let checked = quipu(["receipt", "verify", path(file), "--key", &key, "--json"]).succeeded();
        let report: Value = serde_json::from_str(&checked.stdout).unwrap();
        assert_eq!((&report["valid"], &report["form"]), (&json!(true), &json!(form)));
        assert_eq!(report["receipt_hash"], receipt["chain"]["receipt_hash"]);
        assert_eq!(report["signatures"], json!([{"key_id": "key_1", "state": "valid"}]));
    }
    let (code, said) = check_with_python(&[&json, &wrapped]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(receipt["chain"]["receipt_hash"].as_str().unwrap()), "{said}");
}

#[test]
fn a_changed_receipt_is_refused_by_us_and_by_python() {
    let files = Files::new();
    let mut changed = receipt(&Value::Null);
    changed["cost"]["total"] = json!(1);
    let file = files.write("changed.json", changed.to_string());
    let refused = quipu(["receipt", "verify", path(&file)]).failed();
    assert!(refused.stderr.contains("does not hold: hash"), "{}", refused.said());
    let key = signer().public().to_string();
    let as_json = quipu(["receipt", "verify", path(&file), "--json", "--key", &key]);
    assert_eq!(as_json.code, Some(1));
    let report: Value = serde_json::from_str(&as_json.stdout).unwrap();
    let names: Vec<_> =
        report["findings"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["receipt_hash", "signature", "unsigned"]);
    let (code, said) = check_with_python(&[&file]);
    assert_eq!(code, Some(1), "{said}");
}

#[test]
fn without_a_key_it_says_that_nobody_is_known_to_have_signed() {
    let files = Files::new();
    let file = files.write("receipt.json", receipt(&Value::Null).to_string());
    let checked = quipu(["receipt", "verify", path(&file)]).succeeded();
    assert!(checked.stdout.contains("key_1: not checked (no --key)"), "{}", checked.stdout);
    assert!(checked.stdout.contains("holds, whoever signed it"), "{}", checked.stdout);
    let other = ReceiptSigner::from_seed("key_2", &[6; 32]).public().to_string();
    let refused = quipu(["receipt", "verify", path(&file), "--key", &other]).failed();
    assert!(refused.stderr.contains("none is by a trusted key"), "{}", refused.said());
}

#[test]
fn of_a_receipt_without_a_signature_it_says_that_nobody_signed_it() {
    let files = Files::new();
    let mut unsigned = receipt(&Value::Null);
    unsigned["signatures"] = json!([]);
    let file = files.write("receipt.json", unsigned.to_string());
    let checked = quipu(["receipt", "verify", path(&file)]).succeeded();
    assert!(checked.stdout.contains("holds, but nobody signed it"), "{}", checked.stdout);
}

#[test]
fn the_receipt_before_is_compared_by_its_computed_hash() {
    let files = Files::new();
    let first = receipt(&Value::Null);
    let next = receipt(&first["chain"]["receipt_hash"]);
    let (source, replay) =
        (files.write("a.json", first.to_string()), files.write("b.json", next.to_string()));
    quipu(["receipt", "verify", path(&replay), "--previous", path(&source)]).succeeded();
    let wrong = quipu(["receipt", "verify", path(&source), "--previous", path(&replay)]).failed();
    assert!(wrong.stderr.contains("chain"), "{}", wrong.said());
}

#[test]
fn what_is_no_receipt_is_refused_in_words() {
    let files = Files::new();
    for (name, bytes, said) in [
        ("empty.json", &b""[..], "is not a receipt"),
        ("doubled.json", br#"{"schema":1,"schema":2}"#, "schema"),
        ("cut.cbor", b"\xa1\x61", "byte"),
        ("list.json", b"[1]", "must be an object"),
        ("escape.json", b"{\"\\u001b[31m\":1}", "does not hold"),
    ] {
        let file = files.write(name, bytes);
        let refused = quipu(["receipt", "verify", path(&file)]).failed();
        assert!(refused.said().contains(said), "{name}: {}", refused.said());
        assert!(!refused.said().contains('\u{1b}'), "{name}: a control character got through");
    }
    let gone = files.folder.path().join("gone.json");
    let refused = quipu(["receipt", "verify", path(&gone)]).failed();
    assert!(refused.stderr.contains("cannot be read"), "{}", refused.stderr);
    let bad_key = quipu(["receipt", "verify", path(&gone), "--key", "nonsense"]);
    assert_eq!(bad_key.code, Some(2), "{}", bad_key.said());
    assert!(bad_key.stderr.contains("KEY_ID=BASE64"), "{}", bad_key.stderr);
}
