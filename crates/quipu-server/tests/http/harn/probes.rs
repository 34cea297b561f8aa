//! What the protocol's own suite asserts about Tasks, Events, streams, idempotency, credentials and ranges;
//! discovery and the agent card are in `discovery.rs`. Each test is named after its probe.

use serde_json::{Value, json};

use super::{
    OCTOBER, VERSION,
    run::{Run, check_event, check_refusal, check_resource, legal_after},
};

#[test]
fn core_list_tasks_and_events() {
    let mut run = Run::start();
    for path in ["/v1/tasks", "/v1/events"] {
        run.list(path);
    }
}

#[test]
fn core_task_crud() {
    let mut run = Run::start();
    let task = run.task("task-crud");
    let id = task["id"].as_str().unwrap().to_owned();
    let read = run.get(&format!("/v1/tasks/{id}"));
    check_resource(&read, "task");
    legal_after(read["status"].as_str().unwrap());
    let events = run.list(&format!("/v1/tasks/{id}/events"));
    assert!(!events.is_empty());
    let canceled =
        run.client.post(&format!("/v1/tasks/{id}/cancel"), &json!({"reason": "a probe"}));
    assert!([200, 409, 422].contains(&canceled.status), "{}", canceled.text());
    if canceled.status == 200 {
        legal_after(canceled.json()["status"].as_str().unwrap());
    }
}

#[test]
fn core_event_reads() {
    let mut run = Run::start();
    run.task("event-reads");
    let events = run.list("/v1/events");
    assert!(!events.is_empty());
    for event in &events {
        check_event(event);
        assert_eq!(run.get(&format!("/v1/events/{}", event["id"].as_str().unwrap())), *event);
    }
    let ids: Vec<&str> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted(), "ids rise: {ids:?}");
    let missing = run.client.get("/v1/events/event_0000000000000000");
    check_refusal(&missing, 404, "resource_not_found");
}

#[test]
fn streaming_task_sse_event_shape() {
    let mut run = Run::start();
    let task = run.task("task-sse");
    let id = task["id"].as_str().unwrap();
    let mut stream = run.stream(&format!("/v1/tasks/{id}/stream"), &[]);
    let sent = stream.next().unwrap();
    check_event(&sent.data);
    assert_eq!(sent.data["id"], sent.id.as_str());
    assert_eq!(sent.data["event"], sent.event.as_str());
    assert_eq!(sent.data["task_id"], id);
}

#[test]
fn lifecycle_task_state_machine() {
    let mut run = Run::start();
    let task = run.task("state-machine");
    let seen = run.follow(&task);
    for pair in seen.windows(2) {
        let [from, to] = pair else { unreachable!() };
        assert!(legal_after(from).contains(&to.as_str()), "{seen:?}");
    }
    assert_eq!(seen.last().unwrap(), "COMPLETED", "the Field answers by itself");
    let events = run.list(&format!("/v1/tasks/{}/events", task["id"].as_str().unwrap()));
    events.iter().for_each(check_event);
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    for kind in ["task.submitted", "task.started", "task.completed"] {
        assert_eq!(kinds.iter().filter(|other| **other == kind).count(), 1, "{kind}: {kinds:?}");
    }
}

#[test]
fn idempotency_same_key_same_body_reuses_task() {
    let mut run = Run::start();
    let (first, again) = (run.submit("key-1", "once"), run.submit("key-1", "once"));
    assert_eq!(first.json()["id"], again.json()["id"]);
    assert_eq!(run.list("/v1/tasks").len(), 1);
    let other = run.submit("key-2", "once");
    assert_ne!(first.json()["id"], other.json()["id"]);
}

#[test]
fn idempotency_same_key_different_body_conflicts() {
    let mut run = Run::start();
    run.submit("key-1", "once");
    check_refusal(&run.submit("key-1", "twice"), 409, "idempotency_key_reused");
    assert_eq!(run.list("/v1/tasks").len(), 1);
}

#[test]
fn a_body_is_the_same_whatever_the_order_of_its_members_and_the_space_between() {
    let mut run = Run::start();
    let path = "/v1/sessions/session_default/tasks";
    let key = &[("idempotency-key", " key-1 ")][..];
    let part = r#"{"type":"text","text":"a","visibility":"public"}"#;
    let one = format!(r#"{{"input":{{"role":"user","parts":[{part}]}},"metadata":{{}}}}"#);
    let other = format!(
        r#" {{ "metadata" : {{}} , "input" : {{ "parts" : [ {part} ] , "role" : "user" }} }} "#
    );
    let first = run.client.post_raw(path, key, one.as_bytes());
    let again = run.client.post_raw(path, &[("idempotency-key", "key-1")], other.as_bytes());
    assert_eq!(first.json()["id"], again.json()["id"], "{}", again.text());
    let doubled = br#"{"input":{"role":"user","parts":[]},"input":{}}"#;
    check_refusal(&run.client.post_raw(path, &[], doubled), 400, "invalid_request");
}

#[test]
fn auth_authenticated_request_succeeds_and_missing_auth_is_rejected() {
    let mut run = Run::start();
    run.list("/v1/tasks");
    let reply = run.server.client().with(VERSION, OCTOBER).get("/v1/tasks");
    check_refusal(&reply, 401, "unauthenticated");
    assert!(!reply.text().contains(&run.key));
}

#[test]
fn auth_unsupported_protocol_version_rejected() {
    let run = Run::start();
    let old = run.server.client().with(VERSION, "agents-protocol-1900-01-01").with_key(&run.key);
    check_refusal(&{ old }.get("/v1/tasks"), 426, "unsupported_protocol_version");
    let submitted = run.server.client().with_key(&run.key).post("/v1/tasks", &json!({}));
    check_refusal(&submitted, 426, "unsupported_protocol_version");
}

#[test]
fn replay_event_range_is_byte_deterministic_and_a_cursor_resumes_behind_its_event() {
    let mut run = Run::start();
    let task = run.task("range");
    run.follow(&task);
    let path = format!("/v1/tasks/{}/events", task["id"].as_str().unwrap());
    let (first, again) = (run.client.get(&path), run.client.get(&path));
    assert_eq!(first.text(), again.text());
    let events = run.list(&path);
    let after = events[0]["id"].as_str().unwrap();
    assert_eq!(run.list(&format!("{path}?after_event_id={after}")), events[1..]);
    let unknown = run.client.get(&format!("{path}?after_event_id=event_ffffffffffffffff"));
    check_refusal(&unknown, 410, "cursor_expired");
}

#[test]
fn a_stream_that_is_resumed_goes_on_behind_the_last_event_and_marks_what_is_told_again() {
    let mut run = Run::start();
    let task = run.task("resume");
    run.follow(&task);
    let id = task["id"].as_str().unwrap();
    let events = run.list(&format!("/v1/tasks/{id}/events"));
    let path = format!("/v1/tasks/{id}/stream");
    let last = events[0]["id"].as_str().unwrap();
    let mut stream = run.stream(&path, &[("last-event-id", last)]);
    for expected in &events[1..] {
        let sent = stream.next().unwrap();
        assert_eq!(sent.id, expected["id"].as_str().unwrap());
        assert_eq!((&sent.data["replayed"], &sent.data["replay"]), (&json!(true), &json!(null)));
    }
    let lost = &[("last-event-id", "event_ffffffffffffffff")][..];
    let reply = run.client.send("GET", &path, lost, None);
    assert_eq!(reply.status, 200);
    let frame = reply.text();
    let data =
        frame.strip_prefix("event: error\ndata: ").and_then(|rest| rest.strip_suffix("\n\n"));
    let error: Value = serde_json::from_str(data.unwrap_or_else(|| panic!("{frame}"))).unwrap();
    assert_eq!(error["error"]["code"], "cursor_expired", "and nothing behind it");
}
