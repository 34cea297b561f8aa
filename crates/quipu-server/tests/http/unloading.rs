//! More Fields than stay open: whoever asks cannot tell.

use std::time::Duration;

use quipu_field::Keeping;
use serde_json::{Value, json};

use crate::{
    harn::task_calls::{expect, settled},
    harn::{APRIL, VERSION},
    support::{Setup, TestServer, attune, committed, register, wait_until},
};

const FIELDS: usize = 9;

fn with_room_for_two() -> TestServer {
    let keeping = Keeping { open_max: 2, idle: Duration::ZERO };
    TestServer::with(Setup { dev: true, keeping, ..Setup::default() })
}

#[test]
fn many_fields_with_room_for_two_keep_what_they_were_told() {
    let server = with_room_for_two();
    let mut client = server.client();
    let in_field = |field: usize| server.client().with("Quipu-Field", &format!("f{field}"));
    for field in 0..FIELDS {
        assert_eq!(in_field(field).post("/v1/register", &register("a")).status, 200);
        let counts = client.get("/metrics").text();
        assert!(counts.contains(&format!("quipu_field_commits{{field=\"f{field}\"}}")), "{counts}");
    }
    for round in 0..3 {
        for field in 0..FIELDS {
            let unit = committed(&format!("round {round} of {field}"));
            let reply = in_field(field).say("a", "/v1/record", &unit);
            assert_eq!(reply.status, 200, "{}", reply.text());
        }
    }
    for field in 0..FIELDS {
        let told = in_field(field).say("a", "/v1/attune", &attune()).json();
        assert_eq!(told["record"].as_array().unwrap().len(), 3, "{told}");
        let status = in_field(field).get("/v1/field/status").json();
        assert_eq!(status["units"]["total"], 3, "{status}");
    }
    assert!(server.fields.away_count() >= FIELDS / 2, "most of them are not open");
    let mut told = || {
        let counts = client.get("/metrics").text();
        assert!(counts.contains("quipu_fields_away"), "{counts}");
        counts.matches("quipu_field_commits{").count()
    };
    // A Field that was put away is told for a while, and then no more.
    wait_until("most of them are not counted any more", || told() <= FIELDS / 2);
}

#[test]
fn tasks_of_a_field_that_was_put_away_are_answered_and_have_receipts() {
    let server = with_room_for_two();
    let harn = |field: &str| server.client().with(VERSION, APRIL).with("Quipu-Field", field);
    let part = json!({"type": "text", "text": "what do we know?", "visibility": "public"});
    let asked = json!({"input": {"role": "user", "parts": [part]}});
    let submit = |field: &str| -> Value {
        let mut client = harn(field);
        let task = expect(client.post("/v1/sessions/session_default/tasks", &asked), 202);
        settled(&mut client, task["id"].as_str().unwrap())
    };
    for round in 0..2 {
        for field in ["a", "b", "c", "d", "e"] {
            let task = submit(field);
            assert_eq!(task["status"], "COMPLETED", "round {round}: {task}");
            assert!(task["receipt_id"].is_string(), "round {round}: {task}");
        }
    }
    let listed = expect(harn("a").get("/v1/tasks"), 200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
}
