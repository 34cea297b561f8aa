//! Keys of several nodes over one log: made at any of them or on the command line, known and revoked at all of them.

use std::{path::Path, thread};

use quipu_testbed::{EngineKind, EngineServers, Node, NodeOptions};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    keys::operator_key,
    support::{Client, Settings, quipu, wait_until},
};

fn node(log: &str) -> Node {
    let program = Path::new(env!("CARGO_BIN_EXE_quipu"));
    Node::new(NodeOptions { arguments: Vec::new(), ..NodeOptions::dev(program, log) })
}

fn nodes(log: &str, count: usize) -> Vec<Node> {
    let mut nodes: Vec<Node> = (0..count).map(|_| node(log)).collect();
    thread::scope(|scope| {
        for node in &mut nodes {
            scope.spawn(|| node.run());
        }
    });
    nodes
}

fn client(node: &Node, key: &str) -> Client {
    Client::connect(node.address()).unwrap().with_key(key)
}

fn status(node: &Node, key: &str) -> u16 {
    client(node, key).get("/v1/whoami").status
}

/// Half a second is promised; a machine that is busy may take longer.
#[track_caller]
fn comes_to_answer(nodes: &[Node], key: &str, expected: u16) {
    for node in nodes {
        wait_until(60, "every node knows", || (status(node, key) == expected).then_some(()));
    }
}

/// One key for the operator, whichever node made it.
fn only_key(nodes: &[Node]) -> String {
    let printed: Vec<String> = nodes.iter().filter_map(|node| operator_key(&node.said())).collect();
    assert_eq!(printed.len(), 1, "{printed:?}");
    printed.into_iter().next().unwrap()
}

fn share_their_keys(engine: &EngineServers) {
    let log = engine.url();
    let nodes = nodes(&log, 3);
    let key = only_key(&nodes);
    comes_to_answer(&nodes, &key, 200);

    let new = r#"{"agent": "ada", "authority": 4}"#;
    let made = client(&nodes[0], &key).post("/v1/keys", new).ok();
    let (id, secret) = (made["key"]["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    comes_to_answer(&nodes, secret, 200);
    let listed = quipu(["key", "list", "--log", &log]).succeeded().stdout;
    assert!(listed.contains(id) && listed.contains("ada"), "{listed}");
    quipu(["key", "revoke", "--log", &log, id]).succeeded();
    comes_to_answer(&nodes, secret, 401);

    let create = ["key", "create", "--log", &log, "--agent", "bob", "--authority", "4"];
    let printed = quipu(create).succeeded().stdout;
    comes_to_answer(&nodes, printed.lines().last().unwrap(), 200);

    // Who signs receipts is the same everywhere; who signs checkpoints is not, and everybody knows whom to believe.
    let cards: Vec<Value> = nodes.iter().map(|node| receipt_keys(node, &key)).collect();
    assert!(cards[0].is_array() && cards.iter().all(|keys| *keys == cards[0]), "{cards:?}");
    let lists: Vec<String> =
        nodes.iter().map(|node| client(node, &key).get("/v1/log/key").text()).collect();
    let sorted = lists.iter().map(|list| {
        let mut lines: Vec<&str> = list.lines().collect();
        lines.sort_unstable();
        lines
    });
    let sorted: Vec<Vec<&str>> = sorted.collect();
    assert_eq!(sorted[0].len(), 3, "{lists:?}");
    assert!(sorted.iter().all(|lines| *lines == sorted[0]), "{lists:?}");
    client(&nodes[0], &key).register("ana", "researcher");
    let scratch = TempDir::new().unwrap();
    for node in &nodes {
        let proof = wait_until(60, "the node has the commit", || {
            let proof = client(node, &key).get("/v1/log/inclusion?position=1");
            (proof.status == 200).then_some(proof.body)
        });
        let file = scratch.path().join("proof");
        std::fs::write(&file, proof).unwrap();
        let file = file.to_str().unwrap();
        quipu(["verify", "--proof", file, "--checkpoint-key", &lists[0]]).succeeded();
    }
}

/// The keys that a node says its receipts are signed with.
fn receipt_keys(node: &Node, key: &str) -> Value {
    let card = client(node, key).get("/v1/agent-card").ok();
    find(&card, "receipt_keys").cloned().unwrap_or_else(|| panic!("no keys in {card}"))
}

fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(object) => {
            object.get(name).or_else(|| object.values().find_map(|value| find(value, name)))
        }
        Value::Array(values) => values.iter().find_map(|value| find(value, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[test]
fn nodes_over_postgres_share_their_keys_crash() {
    share_their_keys(&EngineServers::start(EngineKind::Postgres));
}

#[test]
fn nodes_over_nats_share_their_keys_crash() {
    share_their_keys(&EngineServers::start(EngineKind::Nats));
}

#[test]
fn keys_stay_good_while_the_log_is_away_crash() {
    let mut engine = EngineServers::start(EngineKind::Postgres);
    let nodes = nodes(&engine.url(), 1);
    let key = only_key(&nodes);
    engine.kill(0);
    assert_eq!(status(&nodes[0], &key), 200);
    // A helper of the server may carry out what reaches it before it notices.
    wait_until(60, "no key can be made", || {
        let made = client(&nodes[0], &key).post("/v1/keys", r#"{"authority": 4}"#);
        (made.status == 503).then_some(())
    });
    assert_eq!(status(&nodes[0], &key), 200);
    engine.run(0);
    let secret = wait_until(60, "keys can be made again", || {
        let made = client(&nodes[0], &key).post("/v1/keys", r#"{"authority": 4}"#);
        (made.status == 200).then(|| made.json()["secret"].as_str().unwrap().to_owned())
    });
    assert_eq!(status(&nodes[0], &secret), 200);
}

#[test]
fn a_node_takes_the_keys_of_its_directory_over_once_crash() {
    let (engine, data) = (EngineServers::start(EngineKind::Postgres), TempDir::new().unwrap());
    let (server, key) = crate::keys::start_with_key(data.path());
    server.stop();
    let over = Settings::new(data.path()).argument("--log").argument(&engine.url());
    let mut server = over.start();
    assert_eq!(operator_key(&server.printed()), None);
    assert_eq!(server.client().with_key(&key).get("/v1/whoami").status, 200);
    assert!(!data.path().join("keys.json").exists(), "it would be taken for the keys");
    let nodes = nodes(&engine.url(), 1);
    assert_eq!(operator_key(&nodes[0].said()), None);
    assert_eq!(status(&nodes[0], &key), 200);
}

#[test]
fn a_node_with_another_key_of_vaults_is_refused_crash() {
    let engine = EngineServers::start(EngineKind::Postgres);
    let key = |byte: char| format!("{}=", byte.to_string().repeat(43));
    let mut first = node(&engine.url());
    first.options_mut().environment = vec![("QUIPU_VAULT_KEY".to_owned(), key('A'))];
    first.run();
    for wrong in [Some(key('E')), None] {
        let mut second = node(&engine.url());
        let given = wrong.map(|key| ("QUIPU_VAULT_KEY".to_owned(), key));
        second.options_mut().environment = given.into_iter().collect();
        let ended = second.try_run().expect_err("it is refused");
        assert!(ended.said.contains("QUIPU_VAULT_KEY"), "{}", ended.said);
    }
}
