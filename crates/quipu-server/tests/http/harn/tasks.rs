//! Tasks over HTTP: both ways to submit one, reading, listing, canceling, and what is refused.

use serde_json::{Value, json};

use super::{
    refusal, refused,
    task_calls::{agent, expect, hidden, operator, settled, waiting},
};
use crate::support::{Client, Reply, TestServer};

const SUBMIT: &str = "/v1/sessions/session_default/tasks";

fn input(text: &str) -> Value {
    json!({"input": {"role": "user", "parts": [{"type": "text", "text": text, "visibility": "public"}]}})
}

fn keyed(client: &mut Client, path: &str, key: &str, body: &Value) -> Reply {
    client.post_raw(path, &[("idempotency-key", key)], body.to_string().as_bytes())
}

#[test]
fn a_task_for_the_field_is_working_when_it_is_answered_for_and_completes_with_an_outcome() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let task = expect(client.post(SUBMIT, &input("what do we know?")), 202);
    assert_eq!((&task["object"], &task["status"]), (&json!("task"), &json!("WORKING")));
    assert!(task["outcome_id"].is_null() && task["receipt_id"].is_null());
    let task = settled(&mut client, task["id"].as_str().unwrap());
    assert_eq!(task["status"], "COMPLETED");
    assert!(task["outcome_id"].is_string() && task["receipt_id"].is_string());
    assert!(task["completed_at"].is_string() && task["canceled_at"].is_null());
    let listed = expect(client.get("/v1/tasks"), 200);
    assert_eq!((&listed["object"], &listed["data"]), (&json!("list"), &json!([task])));
    assert_eq!(listed["page"], json!({"has_more": false, "next_cursor": null}));
}

#[test]
fn one_key_is_one_task_on_both_paths_and_another_body_is_a_conflict() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let first = expect(keyed(&mut client, SUBMIT, "k1", &input("a")), 202);
    let again = expect(keyed(&mut client, SUBMIT, "k1", &input("a")), 200);
    assert_eq!(again["id"], first["id"]);
    let mut named = input("a");
    named["session_id"] = json!("session_default");
    let again = expect(keyed(&mut client, "/v1/tasks", "k1", &named), 200);
    assert_eq!(again["id"], first["id"]);
    let other = keyed(&mut client, SUBMIT, "k1", &input("b"));
    assert_eq!(refusal(&other), refused(409, "idempotency_key_reused"));
    assert_ne!(expect(keyed(&mut client, SUBMIT, "k2", &input("a")), 202)["id"], first["id"]);
}

#[test]
fn a_submission_that_says_too_little_or_nonsense_is_refused_by_the_name_of_what_is_wrong() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let mut foreign = input("a");
    foreign["session_id"] = json!("session_other");
    for (path, body, param) in [
        ("/v1/tasks", input("a"), "session_id"),
        (SUBMIT, foreign, "session_id"),
        (SUBMIT, json!({}), "input"),
        (SUBMIT, json!({"input": 7}), "input"),
        (SUBMIT, json!({"input": {"role": "king", "parts": []}}), "input.role"),
        (SUBMIT, json!({"input": "x", "metadata": []}), "metadata"),
    ] {
        let reply = client.post(path, &body);
        assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{body}");
        assert_eq!(reply.json()["error"]["param"], param, "{body}");
    }
    for garbage in [&b"{"[..], b"[]", b"{\"input\":\"a\",\"input\":\"b\"}", b"\xff"] {
        let reply = client.post_raw(SUBMIT, &[], garbage);
        assert_eq!(refusal(&reply), refused(400, "invalid_request"));
    }
    for (path, body) in [
        ("/v1/sessions/session_none/tasks", input("a")),
        (SUBMIT, json!({"input": "x", "persona_id": "persona_none"})),
        (SUBMIT, json!({"input": "x", "parent_task_id": "task_none"})),
    ] {
        assert_eq!(refusal(&client.post(path, &body)), refused(404, "resource_not_found"));
    }
    assert_eq!(expect(client.get("/v1/tasks"), 200)["data"], json!([]));
}

#[test]
fn lists_are_paged_and_a_bad_limit_or_cursor_is_refused() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let made: Vec<_> = (0..3).map(|number| waiting(&server, &format!("t{number}"))).collect();
    let first = expect(client.get("/v1/tasks?limit=2"), 200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = expect(client.get(&format!("/v1/tasks?limit=2&cursor={cursor}")), 200);
    let ids = |list: &Value| {
        let data = list["data"].as_array().unwrap().clone();
        data.into_iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!([ids(&first), ids(&second)].concat(), made);
    for query in ["limit=0", "limit=201", "limit=x", "cursor=c1.session.1", "cursor=x"] {
        let reply = client.get(&format!("/v1/tasks?{query}"));
        assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{query}");
    }
    let none = expect(client.get("/v1/tasks?workspace_id=workspace_other"), 200);
    assert_eq!(none["data"], json!([]));
    let all = expect(client.get("/v1/tasks?workspace_id=workspace_default"), 200);
    assert_eq!(ids(&all), made);
}

#[test]
fn a_task_is_canceled_once_and_stays_canceled() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let path = format!("/v1/tasks/{}", waiting(&server, "t"));
    let cancel = format!("{path}/cancel");
    let reply = agent(&server, "mallory").send("POST", &cancel, &[], None);
    assert_eq!(refusal(&reply), refused(403, "permission_denied"));
    let task = expect(client.post(&cancel, &json!({"reason": "enough"})), 200);
    assert_eq!(task["status"], "CANCELED");
    assert!(task["canceled_at"].is_string() && task["completed_at"].is_null());
    assert!(task["receipt_id"].is_string(), "a canceled task has a receipt");
    assert_eq!(expect(client.send("POST", &cancel, &[], None), 200), task);
    let reply = client.post(&cancel, &json!({"reason": 7}));
    assert_eq!(refusal(&reply), refused(400, "invalid_request"));
    let done = expect(client.post(SUBMIT, &input("x")), 202)["id"].as_str().unwrap().to_owned();
    settled(&mut client, &done);
    let reply = client.send("POST", &format!("/v1/tasks/{done}/cancel"), &[], None);
    assert_eq!(refusal(&reply), refused(409, "conflict"));
}

#[test]
fn what_is_unknown_and_what_is_hidden_look_the_same() {
    let server = TestServer::start();
    hidden(&server, "secret-plans", "t-hidden");
    let mut client = agent(&server, "mallory");
    for (method, rest) in [
        ("GET", ""),
        ("GET", "/events"),
        ("GET", "/stream"),
        ("POST", "/cancel"),
        ("POST", "/claim"),
    ] {
        let mut said = |id: &str| {
            let reply = client.send(method, &format!("/v1/tasks/{id}{rest}"), &[], None);
            assert_eq!(refusal(&reply), refused(404, "resource_not_found"), "{method} {rest}");
            reply.json()["error"]["message"].as_str().unwrap().replace(id, "ID")
        };
        assert_eq!(said("t-hidden"), said("t-unknown"));
    }
    let reply = client.get("/v1/sessions/secret-plans/tasks");
    assert_eq!(refusal(&reply), refused(404, "resource_not_found"));
    let body = json!({"session_id": "secret-plans", "input": "x"});
    assert_eq!(refusal(&client.post("/v1/tasks", &body)).0, 404);
    assert_eq!(expect(client.get("/v1/tasks?session_id=secret-plans"), 200)["data"], json!([]));
    assert_eq!(expect(client.get("/v1/events?task_id=t-hidden"), 200)["data"], json!([]));
}
