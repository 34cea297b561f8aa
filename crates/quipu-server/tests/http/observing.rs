//! What an operator sees: health, readiness, request ids, metrics.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::{Value, json};

use crate::support::{Client, TestServer, committed, register};

#[test]
fn health_needs_no_key() {
    let server = TestServer::start();
    let reply = server.client().get("/healthz");
    assert_eq!((reply.status, reply.json()), (200, json!({"status": "ok"})));
}

#[test]
fn readiness_names_every_open_field_to_the_operator_and_none_to_anybody_else() {
    let server = TestServer::start();
    server.operator().with("Quipu-Field", "team").post("/v1/register", &register("a"));
    let bound = server.key_for(KeyAgent::Any, 10, Some("team"));
    let named = server.key_for(KeyAgent::Named("a".to_owned()), 10, None);
    for mut client in [
        server.client(),
        server.client().with_key("quipu_none"),
        server.client().with_key(&server.key(9)),
        server.client().with_key(&bound),
        server.client().with_key(&named),
    ] {
        assert_eq!(readiness(&mut client), (200, json!({"status": "ready"})));
    }
    let ready = |name: &str| {
        let check = json!({"checked": 0, "of": 0});
        json!({"name": name, "ready": true, "reason": null, "background_check": check})
    };
    let expected = json!({"status": "ready", "fields": [ready("default"), ready("team")]});
    assert_eq!(readiness(&mut server.operator()), (200, expected));
}

/// What `/readyz` says, but for the clock of the machine.
fn readiness(client: &mut Client) -> (u16, Value) {
    let reply = client.get("/readyz");
    let mut says = reply.json();
    assert!(says["clock"]["jumps"].is_u64(), "{says}");
    says.as_object_mut().unwrap().remove("clock");
    (reply.status, says)
}

#[test]
fn a_field_that_failed_makes_the_server_unready_and_refuses_writes() {
    let server = TestServer::start();
    let mut operator = server.operator();
    operator.post("/v1/register", &register("a"));
    server.fields.opened()[0].health().fail("the disk is gone");
    assert_eq!(readiness(&mut server.client()), (503, json!({"status": "unavailable"})));
    let reply = operator.get("/readyz");
    assert_eq!(reply.status, 503);
    assert_eq!(reply.json()["fields"][0]["reason"], "the disk is gone");
    let reply = operator.say("a", "/v1/record", &committed("x"));
    assert_eq!((reply.status, reply.code().as_str()), (503, "FIELD_UNAVAILABLE"));
    assert_eq!(operator.get("/v1/agents").status, 200);
}

#[test]
fn a_sane_request_id_is_given_back_and_any_other_replaced() {
    let server = TestServer::start();
    let mut client = server.client();
    let mut id_of = |given: Option<&str>| {
        let headers: Vec<_> = given.iter().map(|id| ("X-Request-Id", *id)).collect();
        let reply = client.send("GET", "/nowhere", &headers, None);
        reply.header("x-request-id").unwrap().to_owned()
    };
    assert_eq!(id_of(Some("trace-7.a_b:c")), "trace-7.a_b:c");
    let long = "x".repeat(65);
    for insane in [None, Some(""), Some("two words"), Some("<b>"), Some(long.as_str())] {
        let id = id_of(insane);
        assert_eq!(id.len(), 26, "{insane:?} became {id}");
    }
    assert_ne!(id_of(None), id_of(None));
}

#[test]
fn metrics_have_their_names_and_need_a_key() {
    let server = TestServer::start();
    assert_eq!(server.client().get("/metrics").code(), "UNAUTHENTICATED");
    let mut operator = server.operator();
    operator.post("/v1/register", &register("a"));
    operator.say("a", "/v1/record", &committed("x"));
    operator.say("b", "/v1/record", &committed("x"));
    operator.get("/made/up/by/the/caller");
    let reply = server.client().with_key(&server.key(0)).get("/metrics");
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").unwrap().starts_with("text/plain"));
    let text = reply.text();
    for line in [
        "quipu_http_requests_total{route=\"/v1/record\",status=\"200\"}",
        "quipu_http_requests_total{route=\"/v1/record\",status=\"403\"}",
        "quipu_http_requests_total{route=\"other\",status=\"404\"}",
        "quipu_http_request_seconds_bucket{route=\"/v1/record\",le=\"0.001\"}",
        "quipu_operations_total{operation=\"RECORD\",code=\"OK\"}",
        "quipu_operations_total{operation=\"RECORD\",code=\"AGENT_NOT_REGISTERED\"}",
        "quipu_field_commits{field=\"default\"}",
        "quipu_field_units{field=\"default\"}",
        "quipu_field_ready{field=\"default\"} 1",
        "quipu_field_head{field=\"default\"}",
        "quipu_log_append_seconds_bucket{le=\"0.001\"}",
        "quipu_log_batch_commits_bucket{le=\"1024\"}",
        "quipu_uptime_seconds",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("made"), "callers cannot add names");
}

#[test]
fn a_key_that_is_bound_to_a_field_is_shown_the_counts_of_that_field_alone() {
    let server = TestServer::start();
    for field in ["team-a", "team-b"] {
        server.operator().with("Quipu-Field", field).post("/v1/register", &register("a"));
    }
    let bound = server.key_for(KeyAgent::Any, 10, Some("team-a"));
    let text = server.client().with_key(&bound).get("/metrics").text();
    assert!(text.contains("quipu_field_units{field=\"team-a\"} 0"), "{text}");
    let counts = text.lines().filter(|line| !line.starts_with('#'));
    for line in counts {
        assert!(line.contains("{field=\"team-a\"}"), "{line}");
    }
    assert!(server.operator().get("/metrics").text().contains("team-b"));
}

#[test]
fn metrics_need_no_key_in_dev() {
    assert_eq!(TestServer::dev().client().get("/metrics").status, 200);
}
