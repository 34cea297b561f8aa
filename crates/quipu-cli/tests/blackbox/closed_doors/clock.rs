//! The logical clock: who only reads cannot make what others recorded look old.

use serde_json::json;
use tempfile::TempDir;

use crate::{
    keys::start_with_key,
    support::{Message, finding, quipu, refused, scope},
};

const MILLION: u64 = 1_000_000;

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

#[test]
fn readiness_shows_the_time_of_the_fields_beside_the_wall_clock() {
    let data = TempDir::new().unwrap();
    let (server, _) = start_with_key(data.path());
    let clock = server.client().get("/readyz").ok()["clock"].clone();
    assert!(clock["jumps"].is_u64() && clock["ahead_ms"].is_i64(), "{clock}");
}
