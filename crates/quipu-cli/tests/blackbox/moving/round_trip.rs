//! From a data directory to PostgreSQL, to NATS, to another directory and back to the first.

use quipu_testbed::{NatsServers, PostgresServer};
use serde_json::json;
use tempfile::TempDir;

use super::work::{embedded, move_log, verified, work};
use crate::{
    keys::{operator_key, start_with_key},
    support::{Server, Settings, finding, quipu, refused},
};

fn serve(data: &TempDir, log: &str) -> Server {
    Settings::new(data.path()).argument("--log").argument(log).start()
}

/// Moves a log; the copy is what the source was.
#[track_caller]
fn moved(from: &str, to: &str) -> String {
    let before = verified(from);
    let said = move_log(from, to).succeeded().stdout;
    assert_eq!(verified(to), before, "{said}");
    assert_eq!(verified(from), before, "the source stays as it was");
    for field in &before {
        let state = field["state"].as_str().unwrap();
        assert!(said.contains(state) && said.contains(field["head"].as_str().unwrap()), "{said}");
    }
    said
}

#[test]
fn a_log_is_the_same_wherever_it_is_moved_crash() {
    let (first, last) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (postgres, nats) = (PostgresServer::start(), NatsServers::one());
    let (server, key) = start_with_key(first.path());
    let mut client = server.client().with_key(&key);
    work(&mut client, 40);
    let mut of_team = server.client().with_key(&key).with_header("quipu-field", "team");
    of_team.register("bob", "engineer");
    of_team.record("bob", finding("the team has a field of its own"));
    let checkpoint_key = client.get("/v1/log/key").text();
    client.get("/v1/log/checkpoint");
    let lost = client.post("/v1/keys", r#"{"agent": "eve", "authority": 4}"#).ok();
    let id = lost["key"]["id"].as_str().unwrap();
    client.try_request("DELETE", &format!("/v1/keys/{id}"), b"").unwrap().ok();
    server.stop();

    let (source, database) = (embedded(first.path()), postgres.url());
    moved(&source, &database);
    let again = move_log(&source, &database).succeeded().stdout;
    assert!(again.contains("was moved before"), "{again}");
    let old = Settings::new(first.path()).start();
    let refusal = old.client().with_key(&key).operate("RECORD", "ana", finding("too late"));
    assert!(refused(&refusal, 503, "FIELD_UNAVAILABLE").contains("sealed"));
    old.kill();

    let mut server = serve(&first, &database);
    assert_eq!(operator_key(&server.printed()), None, "the keys went along");
    let mut client = server.client().with_key(&key);
    client.record("ana", finding("the log is in a database now"));
    assert_eq!(client.get("/v1/log/key").text(), checkpoint_key);
    assert_eq!(client.get("/v1/log/checkpoint").status, 200);
    let mut eve = server.client().with_key(lost["secret"].as_str().unwrap());
    refused(&eve.get("/v1/whoami"), 401, "UNAUTHENTICATED");

    // This one runs on, and says what happened.
    moved(&database, &nats.url());
    let refusal = client.operate("RECORD", "ana", finding("too late"));
    let message = refused(&refusal, 503, "FIELD_UNAVAILABLE");
    assert!(message.contains("sealed") && message.contains("moved"), "{message}");
    server.stop();

    let server = serve(&first, &nats.url());
    let mut client = server.client().with_key(&key);
    client.record("ana", finding("the log is in streams now"));
    server.stop();

    moved(&nats.url(), &embedded(last.path()));
    let mut server = Settings::new(last.path()).start();
    assert_eq!(operator_key(&server.printed()), None, "the keys went along");
    let mut client = server.client().with_key(&key);
    client.record("ana", finding("the log is in a directory again"));
    // What was erased after the source was sealed is not in the old copy either, once it is the log again.
    let purge = json!({"strategy": "purge", "filter": {"types": ["finding"]}});
    client.operate("COMPACT", "ana", purge).ok();
    server.stop();

    moved(&embedded(last.path()), &source);
    let server = Settings::new(first.path()).start();
    server.client().with_key(&key).record("ana", finding("home"));
    server.stop();
    assert!(
        !quipu_testbed::is_in_files(&first.path().join("fields"), "masts").iter().any(|_| true)
    );
}

#[test]
fn one_field_moves_alone_and_the_others_stay_crash() {
    let data = TempDir::new().unwrap();
    let postgres = PostgresServer::start();
    let server = Settings::dev(data.path()).start();
    server.client().register("ana", "researcher");
    server.client().with_header("quipu-field", "team").register("bob", "engineer");
    server.stop();
    let (source, database) = (embedded(data.path()), postgres.url());
    let one = ["move", "--from", &source, "--to", &database, "--field", "team"];
    quipu(one).succeeded();
    let fields: Vec<_> = verified(&database).iter().map(|field| field["field"].clone()).collect();
    assert_eq!(fields, ["team"]);
    let server = Settings::dev(data.path()).start();
    server.client().register("cleo", "writer");
    let mut of_team = server.client().with_header("quipu-field", "team");
    let refusal = of_team.operate("REGISTER", "dan", json!({"id": "dan", "role": "r"}));
    assert_eq!(refusal.status, 503, "{}", refusal.text());
}
