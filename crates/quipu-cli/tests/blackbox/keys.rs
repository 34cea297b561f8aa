//! Keys: made at the first start, created, listed and revoked while the server runs, never stored.

use std::{fs, path::Path};

use serde_json::json;
use tempfile::TempDir;

use crate::support::{Client, Server, Settings, finding, quipu, refused, scope, wait_until};

pub(crate) fn operator_key(printed: &str) -> Option<String> {
    let mut words = printed.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    words.find(|word| word.starts_with("quipu_") && word.len() > 40).map(str::to_owned)
}

/// The part of a key that nobody may store: `quipu_<id>_<secret>`.
fn secret_of(key: &str) -> &str {
    key.splitn(3, '_').nth(2).unwrap()
}

pub(crate) fn start_with_key(data: &Path) -> (Server, String) {
    let mut server = Settings::new(data).start();
    let printed = server.printed();
    let key = operator_key(&printed).unwrap_or_else(|| panic!("no key in {printed:?}"));
    (server, key)
}

fn key_command(data: &Path, arguments: &[&str]) -> String {
    let data = data.to_str().unwrap();
    let (verb, rest) = arguments.split_first().unwrap();
    let all = [&["key", verb, "--data", data], rest].concat();
    quipu(all).succeeded().stdout
}

/// Every file below a directory that holds these bytes.
fn files_with(directory: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if fs::read(&path).unwrap().windows(needle.len()).any(|window| window == needle) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn authority_of(client: &mut Client, agent: &str) -> u64 {
    let answer = client.operate("REGISTER", agent, json!({"id": agent, "role": "r"})).ok();
    answer["agent"]["authority_level"].as_u64().unwrap()
}

#[test]
fn the_first_start_prints_an_operator_key_once_and_stores_only_its_hash() {
    let data = TempDir::new().unwrap();
    let (server, key) = start_with_key(data.path());
    let mut client = server.client().with_key(&key);
    assert_eq!(authority_of(&mut client, "operator"), 10);
    let first = server.stop();
    assert!(!first.stderr.contains(&key), "a secret in the log");
    let secret = secret_of(&key);
    assert!(secret.len() >= 32, "{key}");
    assert_eq!(files_with(data.path(), secret.as_bytes()), Vec::<String>::new());

    let mut second = Settings::new(data.path()).start();
    assert_eq!(operator_key(&second.printed()), None);
    let mut client = second.client().with_key(&key);
    assert_eq!(client.record("operator", finding("still known"))["status"], "accepted");
}

#[test]
fn nothing_is_answered_without_a_valid_key() {
    let data = TempDir::new().unwrap();
    let (server, key) = start_with_key(data.path());
    let scheme = format!("Basic {key}");
    let (shorter, longer) = (&key[..key.len() - 1], format!("{key}x"));
    let wrong = [None, Some("quipu_wrong"), Some(shorter), Some(&longer), Some("")];
    let mut clients: Vec<Client> = wrong
        .iter()
        .map(|given| given.map_or(server.client(), |given| server.client().with_key(given)))
        .collect();
    clients.push(server.client().with_header("authorization", &scheme));
    for client in &mut clients {
        let answer = client.operate("REGISTER", "a", json!({"id": "a", "role": "r"}));
        refused(&answer, 401, "UNAUTHENTICATED");
        assert!(answer.header("www-authenticate").is_some_and(|text| text.contains("Bearer")));
        refused(&client.operate("MERGE", "a", json!({})), 401, "UNAUTHENTICATED");
        for path in ["/v1/field/status", "/v1/agents", "/v1/conflicts"] {
            refused(&client.get(path), 401, "UNAUTHENTICATED");
        }
        for path in ["/healthz", "/readyz", "/openapi.json"] {
            assert_eq!(client.get(path).status, 200, "{path}");
        }
    }
}

#[test]
fn a_created_key_stands_alone_on_the_last_line_and_works_at_once() {
    let data = TempDir::new().unwrap();
    let (server, _) = start_with_key(data.path());
    let printed = key_command(data.path(), &["create", "--agent", "scout", "--authority", "4"]);
    let key = printed.trim_end().lines().last().unwrap();
    assert!(key.starts_with("quipu_") && !key.contains(' '), "{printed}");
    let mut client = server.client().with_key(key);
    assert_eq!(authority_of(&mut client, "scout"), 4);
    assert_eq!(client.record("scout", finding("seen"))["status"], "accepted");
    let other = client.operate("REGISTER", "other", json!({"id": "other", "role": "r"}));
    let message = refused(&other, 403, "INSUFFICIENT_AUTHORITY");
    assert!(message.contains("scout") && message.contains("other"), "{message}");
}

#[test]
fn an_observers_key_reads_and_notes_but_commits_nothing() {
    let data = TempDir::new().unwrap();
    let (server, _) = start_with_key(data.path());
    let printed = key_command(data.path(), &["create", "--agent", "*", "--authority", "2"]);
    let key = printed.trim_end().lines().last().unwrap();
    let mut client = server.client().with_key(key);
    assert_eq!(authority_of(&mut client, "watcher"), 2);
    assert_eq!(client.attune("watcher", scope(1))["status"], "ok");
    let answer = client.operate("RECORD", "watcher", finding("no"));
    refused(&answer, 403, "INSUFFICIENT_AUTHORITY");
    let answer = client.operate("DETECT", "watcher", json!({"mode": "list"}));
    refused(&answer, 403, "INSUFFICIENT_AUTHORITY");
    let asking = json!({"id": "greedy", "role": "r", "authority_level": 6});
    let answer = client.operate("REGISTER", "greedy", asking);
    refused(&answer, 403, "INSUFFICIENT_AUTHORITY");
}

#[test]
fn a_key_bound_to_a_field_sees_no_other() {
    let data = TempDir::new().unwrap();
    let (server, operator) = start_with_key(data.path());
    let arguments = ["create", "--agent", "*", "--authority", "6", "--field", "team-a"];
    let printed = key_command(data.path(), &arguments);
    let key = printed.trim_end().lines().last().unwrap();
    let mut bound = server.client().with_key(key);
    bound.register("a", "r");
    bound.record("a", finding("of team a"));
    assert_eq!(bound.get("/v1/field/status").ok()["field"], "team-a");
    let mut elsewhere = server.client().with_key(key).with_header("quipu-field", "default");
    refused(&elsewhere.get("/v1/field/status"), 403, "INSUFFICIENT_AUTHORITY");
    let status = server.client().with_key(&operator).get("/v1/field/status").ok();
    assert_eq!(status["units"]["total"], 0, "the default field has none of it");
    let mut into = server.client().with_key(&operator).with_header("quipu-field", "team-a");
    assert_eq!(into.get("/v1/field/status").ok()["units"]["total"], 1);
}

#[test]
fn a_list_shows_every_key_but_no_secret_and_a_revoked_key_stops_working() {
    let data = TempDir::new().unwrap();
    let (server, operator) = start_with_key(data.path());
    let printed = key_command(data.path(), &["create", "--agent", "scout", "--authority", "4"]);
    let key = printed.trim_end().lines().last().unwrap().to_owned();
    let listed = key_command(data.path(), &["list"]);
    assert!(listed.contains("scout"), "{listed}");
    for secret in [&key, &operator] {
        assert!(!listed.contains(secret_of(secret)), "{listed}");
    }
    let id = key.split('_').nth(1).unwrap();
    assert!(listed.contains(id), "{listed}");

    let mut client = server.client().with_key(&key);
    client.register("scout", "r");
    key_command(data.path(), &["revoke", id]);
    wait_until(2, "the revoked key is refused", || {
        let answer = client.operate("RECORD", "scout", finding("still in"));
        (answer.status == 401).then(|| refused(&answer, 401, "UNAUTHENTICATED"))
    });
    let mut operator = server.client().with_key(&operator);
    assert_eq!(operator.get("/v1/agents").status, 200, "the others still work");
    let unknown = quipu(["key", "revoke", "--data", data.path().to_str().unwrap(), "nothere0"]);
    assert!(unknown.failed().stderr.contains("nothere0"));
}

#[test]
fn wrong_keys_are_not_created() {
    let data = TempDir::new().unwrap();
    let path = data.path().to_str().unwrap();
    for arguments in [
        ["--agent", "a", "--authority", "11"],
        ["--agent", "a", "--authority", "-1"],
        ["--agent", "", "--authority", "4"],
        ["--agent", "a\nb", "--authority", "4"],
    ] {
        let all = [&["key", "create", "--data", path][..], &arguments].concat();
        let refused = quipu(all);
        assert_ne!(refused.code, Some(0), "{arguments:?}: {}", refused.stdout);
        assert!(!refused.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_mode_without_keys_listens_on_loopback_only() {
    let data = TempDir::new().unwrap();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let settings = Settings::dev(data.path()).argument("--listen").argument(address);
        let refused = settings.start_refused();
        assert!(refused.stderr.contains("loopback"), "{}", refused.stderr);
    }
    let mut server = Settings::dev(data.path()).start();
    assert_eq!(operator_key(&server.printed()), None, "no key is needed, so none is made");
}
