//! Two servers with different data, the same Task and the same issuer: the same bytes.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::harn::{Harn, check_with_python};
use crate::support::{Server, Settings};

/// 32 bytes of base64, the same for both: a secret's hash is keyed.
const VAULT_KEY: &str = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";

fn start(data: &TempDir) -> Server {
    Settings::dev(data.path())
        .argument("--receipt-issuer-id")
        .argument("harness_conformance")
        .environment("QUIPU_VAULT_KEY", VAULT_KEY)
        .start()
}

#[test]
fn two_servers_issue_byte_identical_receipts_for_the_same_replay() {
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let (one, other) = (start(&folders[0]), start(&folders[1]));
    let (mut here, mut there) = (Harn::of(&one), Harn::of(&other));
    let (task, checkpoint) = here.record();
    let export = here.get(&format!("/v1/tasks/{task}/export"));
    let brought = there.post("/v1/tasks/import", &export);
    assert_eq!((&brought["id"], &brought["status"]), (&json!(task), &json!("COMPLETED")));
    assert_eq!(there.receipt(&task), here.receipt(&task));
    let overrides = json!({"mode": "with_overrides", "override": {
        "llm:main:2": {"kind": "llm_provider_response", "value": [1e21, "no"], "reason": "what if"},
        "secret:api_token": {"kind": "secret_value", "value": "other"}}});
    let from = json!({"mode": "from_checkpoint", "checkpoint_id": checkpoint});
    for body in [Value::Null, overrides, from] {
        let ids =
            [here.replay(&task, &body), there.replay(&task, &body)].map(|it| it["id"].clone());
        assert_eq!(ids[0], ids[1]);
        let mut receipts =
            [here.receipt(ids[0].as_str().unwrap()), there.receipt(ids[1].as_str().unwrap())];
        check_with_python(&[&receipts[0], &receipts[1]]);
        assert_ne!(receipts[0]["signatures"], receipts[1]["signatures"], "each has its own key");
        for receipt in &mut receipts {
            receipt["signatures"] = json!([]);
        }
        assert_eq!(receipts[0].to_string(), receipts[1].to_string());
    }
    let (status, twice) = there.call("POST", "/v1/tasks/import", &export);
    assert_eq!((status, &twice["error"]["code"]), (409, &json!("conflict")));
}

#[test]
fn the_published_replay_gives_the_published_receipt_over_http() {
    let published = include_str!("../../../../quipu-harness/tests/harness/replay/published.json");
    let published: Value = serde_json::from_str(published).unwrap();
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path())
        .argument("--receipt-issuer-id=harness_conformance")
        .argument("--receipt-issuer-name=Harn replay conformance")
        .argument("--replay-trust-declared-hashes")
        .start();
    let mut harn = Harn::of(&server);
    let task = harn.post("/v1/tasks/import", &published["export"])["id"].clone();
    let replay = harn.replay(task.as_str().unwrap(), &published["request"]);
    let receipt = harn.receipt(replay["id"].as_str().unwrap());
    check_with_python(&[&receipt]);
    let expected = "sha256:c665e22ccc7b42cd3d910b2c0767a1709bd4e135c9be159816c19a917aea9d04";
    assert_eq!(receipt["chain"]["receipt_hash"], expected, "{receipt}");
}
