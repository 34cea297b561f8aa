//! Secrets go in at every door and are looked for behind every other one: in answers, in the streams, and in
//! the files of the data directory.

use std::{fs, path::Path, sync::Arc};

use quipu_log::SqliteEngine;
use quipu_wire::json::base64;
use serde_json::json;

use super::worker::{alice, ask, claimed, done, id};
use crate::support::{Setup, TestServer};

/// What must be nowhere: secrets, keys, and what nobody is to read.
const CANARIES: [&str; 6] = [
    "canary-vault-4711",
    "canary-hook-secret-4712",
    "canary-dependency-4713",
    "canary-idempotency-4714",
    "canary-receipt-only-4715",
    "canary-signature-4716",
];

/// What may be read, and shows that the search finds what is there.
const PLAIN: &str = "control-4720";

fn assert_clean(bytes: &[u8], what: &str) {
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    for canary in CANARIES {
        assert!(!has(canary.as_bytes()), "{what} has {canary}");
        let quoted = format!("\"{canary}\"");
        for text in [canary, quoted.as_str()] {
            // The last letters depend on what comes behind.
            let coded = base64::encode(text.as_bytes());
            assert!(!has(&coded.as_bytes()[..16]), "{what} has {canary} in base64");
        }
    }
}

fn every_file(directory: &Path, check: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { every_file(&path, check) } else { check(&path) }
    }
}

#[test]
fn no_secret_comes_out_anywhere_or_lies_in_the_data_directory() {
    let [vault_value, hook_secret, dependency, key, receipt_only, signature] = CANARIES;
    let data = tempfile::tempdir().unwrap();
    let engine =
        Arc::new(SqliteEngine::open(data.path(), quipu_log::SqliteOptions::default()).unwrap());
    let mut server = TestServer::with(Setup { engine, ..Setup::default() });
    let mut client = alice(&server);
    let mut replies = Vec::new();

    let keyed = [("idempotency-key", key)];
    let new = json!({"provider": "quipu", "capabilities": []}).to_string();
    let vault = client.post_raw("/v1/vaults", &keyed, new.as_bytes());
    let path = format!("/v1/vaults/{}", id(&vault.json()));
    let put = json!({"value": vault_value}).to_string();
    replies.push(client.send("PUT", &format!("{path}/secrets/t"), &keyed, Some(put.as_bytes())));
    let hook = "/v1/connectors/connector_webhook";
    replies.push(ask(&mut client, "PATCH", hook, &json!({"secret": hook_secret})));
    for wrong in [json!({"secret": [hook_secret]}), json!({"status": hook_secret})] {
        replies.push(ask(&mut client, "PATCH", hook, &wrong));
    }
    let signed = [("x-signature-256", signature), ("x-delivery-id", key), ("x-delivery-time", "1")];
    let deliveries = format!("{hook}/deliveries");
    replies.push(client.post_raw(&deliveries, &signed, receipt_only.as_bytes()));

    let task = claimed(&mut client);
    let on_task = |what: &str| format!("/v1/tasks/{task}/{what}");
    let secret = json!({"key": "secret:t", "kind": "secret_value", "value": dependency});
    replies.push(ask(&mut client, "POST", &on_task("dependencies"), &secret));
    let event = json!({
        "event": "agent.message", "visibility": "receipt_only", "payload": {"text": receipt_only},
    });
    replies.push(ask(&mut client, "POST", &on_task("events"), &event));
    let ended = done(&mut client, "POST", &on_task("complete"), &json!({"summary": PLAIN}));
    let receipt = format!("/v1/receipts/{}", ended["receipt_id"].as_str().unwrap());
    let forged = json!({"trust_anchor": hook_secret}).to_string();
    replies.push(client.post_raw(&format!("{receipt}/verify"), &keyed, forged.as_bytes()));

    for path in [
        "/v1/vaults",
        &path,
        "/v1/connectors",
        hook,
        "/v1/events?limit=200",
        "/v1/artifacts",
        "/v1/outcomes",
        "/v1/tasks",
        &on_task("events"),
        &on_task("receipts"),
        &receipt,
        "/v1/log",
        "/metrics",
    ] {
        replies.push(client.get(path));
    }
    for form in ["json", "cbor"] {
        let accept = format!("application/vnd.harn.receipt+{form}");
        replies.push(client.send("GET", &receipt, &[("accept", &accept)], None));
    }
    let artifacts = client.get("/v1/artifacts").json();
    let log = artifacts["data"].as_array().unwrap().iter().find(|each| each["kind"] == "log");
    let log = log.map(id).unwrap();
    replies.push(client.get(&format!("/v1/artifacts/{log}/content")));
    for reply in &replies {
        assert_clean(&reply.body, &reply.text());
    }
    let redactions = client.get(&receipt).json()["wire"]["payload"]["redactions"].clone();
    assert_eq!(redactions.as_array().map(Vec::len), Some(2), "{redactions}");
    assert!(redactions.as_array().unwrap().iter().all(|each| each["proof_hash"].is_string()));

    server.stop();
    server.join();
    search_files(&[data.path(), server.directory.path()]);
}

/// Looks for what must not be there, and for what must.
fn search_files(directories: &[&Path]) {
    let mut found = false;
    for directory in directories {
        every_file(directory, &mut |path| {
            let bytes = fs::read(path).unwrap();
            assert_clean(&bytes, &path.display().to_string());
            found |= bytes.windows(PLAIN.len()).any(|window| window == PLAIN.as_bytes());
        });
    }
    assert!(found, "the search finds what is there");
}
