//! Time: who only reads cannot make what others recorded look old, and a wall clock that is set wrong for a moment neither
//! ends nor freezes anything.

use quipu_testbed::faketime;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    keys::start_with_key,
    support::{Client, Message, Settings, finding, quipu, refused, scope, wait_until},
};

const MILLION: u64 = 1_000_000;
const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;

#[test]
fn a_key_that_reads_cannot_push_the_clock_far_with_one_message_or_with_many() {
    let data = TempDir::new().unwrap();
    let (server, operator) = start_with_key(data.path());
    let mut owner = server.client().with_key(&operator);
    owner.register("owner", "operator");
    owner.record("owner", finding("The harbour is closed."));
    let create = ["key", "create", "--data", data.path().to_str().unwrap(), "--agent", "reader"];
    let made = quipu([&create[..], &["--authority", "2"]].concat()).succeeded().stdout;
    let mut reader = server.client().with_key(made.lines().last().unwrap());
    reader.register("reader", "reader");

    let payload = json!({"scope": scope(5)});
    let at = |epoch: u64| Message::new("ATTUNE", "reader", payload.clone()).with("epoch", epoch);
    refused(&reader.send(&at(MILLION)), 400, "INVALID_PAYLOAD");
    let mut now = owner.record("owner", finding("The harbour is open."))["epoch"].as_u64().unwrap();
    let mut pushes = 0;
    let answer = loop {
        let answer = reader.send(&at(now + 1000));
        if answer.status != 200 {
            break answer;
        }
        now = answer.json()["epoch"].as_u64().unwrap();
        pushes += 1;
        assert!(pushes < 10, "nothing bounds the key");
    };
    let message = refused(&answer, 429, "RATE_LIMITED");
    assert!(message.contains("send an epoch that the Field has told"), "{message}");
    assert_eq!(reader.send(&at(0)).status, 200, "who claims nothing goes on");

    let archive =
        json!({"strategy": "archive", "filter": {"max_age_epochs": 10_000}, "dry_run": true});
    assert_eq!(owner.operate("COMPACT", "owner", archive).ok()["units_affected"], 0);
    let archive = json!({"strategy": "archive", "filter": {"older_than": "PT1H"}, "dry_run": true});
    assert_eq!(owner.operate("COMPACT", "owner", archive).ok()["units_affected"], 0);
}

fn claim(client: &mut Client, task: &str, lease_ms: u64) {
    let task_input = json!({"id": task, "title": task, "intent": {"purpose": "to test"}});
    client.operate("COORDINATE", "ada", json!({"action": "create", "task": task_input})).ok();
    let claim = json!({"action": "claim", "task_id": task, "lease_ms": lease_ms});
    client.operate("COORDINATE", "ada", claim).ok();
}

fn status_of(client: &mut Client, task: &str) -> Value {
    let get = json!({"action": "get", "task_id": task});
    client.operate("COORDINATE", "ada", get).ok()["task"]["status"].clone()
}

/// What `/readyz` says of the wall clock, once it leapt so often.
fn clock_after(client: &mut Client, jumps: u64) -> Value {
    wait_until(30, "the leap is noticed", || {
        let clock = client.get("/readyz").ok()["clock"].clone();
        (clock["jumps"] == jumps).then_some(clock)
    })
}

#[test]
fn a_wall_clock_a_day_ahead_for_one_commit_ends_and_freezes_nothing_and_is_told() {
    let (data, machine) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = machine.path().join("clock");
    faketime::set(&file, "+0");
    let mut settings = Settings::dev(data.path());
    for (name, value) in faketime::environment(&file) {
        settings = settings.environment(&name, value);
    }
    let server = settings.start();
    let mut client = server.client();
    client.register("ada", "tester");
    claim(&mut client, "long", 600_000);

    faketime::set(&file, "+86400");
    client.record("ada", finding("Said while the clock was wrong."));
    claim(&mut client, "short", 1500);
    let clock = clock_after(&mut client, 1);
    let by = clock["last_jump"]["by_ms"].as_i64().unwrap();
    assert!((by - DAY_MS).abs() < MINUTE_MS, "{clock}");
    let ahead = clock["ahead_ms"].as_i64().unwrap();
    assert!((ahead + DAY_MS).abs() < MINUTE_MS, "the Fields did not go along: {clock}");

    faketime::set(&file, "+0");
    wait_until(60, "the short lease ends", || {
        (status_of(&mut client, "short") == "pending").then_some(())
    });
    assert_eq!(status_of(&mut client, "long"), "assigned");
    let clock = clock_after(&mut client, 2);
    assert!(clock["ahead_ms"].as_i64().unwrap().abs() < MINUTE_MS, "{clock}");
    let today = json!({"strategy": "archive", "filter": {"older_than": "PT1H"}, "dry_run": true});
    assert_eq!(client.operate("COMPACT", "ada", today).ok()["units_affected"], 0);
    client.record("ada", finding("Said when it was right again."));
    let log = client.get("/v1/log?limit=1000").ok();
    let commits = log["commits"].as_array().unwrap();
    let times: Vec<i64> =
        commits.iter().map(|commit| commit["header"]["time_ms"].as_i64().unwrap()).collect();
    assert!(times.is_sorted() && times[times.len() - 1] - times[0] < 10 * MINUTE_MS, "{times:?}");
    let log = server.stop().stderr;
    assert_eq!(log.matches("the wall clock of this machine leapt").count(), 2, "{log}");
}
