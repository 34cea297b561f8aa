//! The two forms of a message, what each must say, and messages sent twice.

use serde_json::{Value, json};

use crate::support::{Client, Reply, TestServer, attune, committed, envelope, register};

fn registered(server: &TestServer) -> Client {
    let mut client = server.client();
    assert_eq!(client.post("/v1/register", &register("a")).status, 200);
    client
}

fn contents(client: &mut Client) -> Vec<String> {
    let headers = [("Akashik-Agent", "a"), ("Akashik-Session", "s")];
    let reply = client.post_raw("/v1/attune", &headers, attune().to_string().as_bytes());
    let units = reply.json()["record"].as_array().unwrap().clone();
    units.iter().map(|unit| unit["memory_unit"]["content"].to_string()).collect()
}

#[test]
fn an_envelope_and_a_bare_payload_do_the_same() {
    let server = TestServer::dev();
    let mut client = server.client();
    let reply = client.post("/v1/register", &envelope("REGISTER", "a", "m-1", &register("a")));
    assert_eq!(reply.json()["status"], "registered");
    let reply = client.post("/v1/record", &envelope("RECORD", "a", "m-2", &committed("one")));
    assert_eq!(reply.json()["status"], "accepted");
    let headers = [("Akashik-Agent", "a"), ("Akashik-Session", "s"), ("Akashik-Epoch", "40")];
    let body = committed("two").to_string();
    let reply = client.post_raw("/v1/record", &headers, body.as_bytes());
    assert_eq!((reply.status, &reply.json()["epoch"]), (200, &json!(41)));
    let headers = [("Akashik-Agent", "a"), ("Akashik-Session", "s")];
    let reply = client.post_raw("/v1/attune", &headers, attune().to_string().as_bytes());
    let units = reply.json()["record"].as_array().unwrap().clone();
    let session_of = |content: &str| {
        let unit = units.iter().find(|unit| unit["memory_unit"]["content"] == content).unwrap();
        unit["memory_unit"]["source"]["session_id"].clone()
    };
    assert_eq!((session_of("one"), session_of("two")), (Value::Null, json!("s")));
    assert_eq!(client.say("a", "/v1/detect", &json!({"mode": "list"})).json()["status"], "ok");
    let reply = client
        .post("/v1/deregister", &envelope("DEREGISTER", "a", "m-3", &json!({"agent_id": "a"})));
    assert_eq!(reply.json()["cleanup"]["units_orphaned"], 2);
}

#[test]
fn an_envelope_must_be_whole_and_sent_to_its_own_route() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let reply = client.post("/v1/record", &envelope("ATTUNE", "a", "m", &committed("x")));
    assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"));
    assert!(reply.message().contains("/v1/attune"), "{}", reply.message());
    let mut other_version = envelope("RECORD", "a", "m", &committed("x"));
    other_version["version"] = json!("9.9.9");
    let reply = client.post("/v1/record", &other_version);
    assert_eq!((reply.status, reply.code().as_str()), (400, "UNSUPPORTED_VERSION"));
    let mut closed = envelope("RECORD", "a", "m", &committed("x"));
    closed["token"] = json!("secret");
    assert!(client.post("/v1/record", &closed).message().contains("envelope.token"));
    let mut without_id = envelope("RECORD", "a", "m", &committed("x"));
    without_id.as_object_mut().unwrap().remove("id");
    assert!(client.post("/v1/record", &without_id).message().contains("envelope.id"));
}

#[test]
fn a_bare_payload_must_say_who_speaks_and_its_headers_must_be_right() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let reply = client.post("/v1/record", &committed("x"));
    assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"));
    assert!(reply.message().contains("Akashik-Agent"), "{}", reply.message());
    let body = committed("x").to_string();
    for (name, value) in [
        ("akashik-epoch", "-1"),
        ("akashik-epoch", "soon"),
        ("akashik-epoch", "9007199254740992"),
        ("akashik-session", " "),
        ("akashik-message-id", ""),
    ] {
        let headers = [("akashik-agent", "a"), (name, value)];
        let reply = client.post_raw("/v1/record", &headers, body.as_bytes());
        assert_eq!(reply.code(), "INVALID_PAYLOAD", "{name}: {value}");
        assert!(reply.message().contains(name), "{}", reply.message());
    }
    let reply = client.say("system", "/v1/record", &committed("x"));
    assert_eq!(reply.code(), "INVALID_PAYLOAD");
}

#[test]
fn an_agent_may_have_a_name_that_is_not_ascii() {
    let server = TestServer::dev();
    let mut client = server.client();
    assert_eq!(client.post("/v1/register", &register("zoë")).status, 200);
    assert_eq!(client.say("zoë", "/v1/record", &committed("x")).status, 200);
}

fn record_as(client: &mut Client, header: &str, id: &str, content: &str) -> Reply {
    let headers = [("akashik-agent", "a"), (header, id)];
    client.post_raw("/v1/record", &headers, committed(content).to_string().as_bytes())
}

#[test]
fn who_has_left_gets_the_answers_of_the_first_time_and_no_other() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let first = record_as(&mut client, "akashik-message-id", "m-1", "one").json();
    client.say("a", "/v1/deregister", &json!({"agent_id": "a"})).json();
    assert_eq!(record_as(&mut client, "akashik-message-id", "m-1", "one").json(), first);
    let reused = record_as(&mut client, "akashik-message-id", "m-1", "two");
    assert_eq!(reused.code(), "MESSAGE_ID_REUSED");
    let new = record_as(&mut client, "akashik-message-id", "m-2", "two");
    assert_eq!(new.code(), "AGENT_NOT_REGISTERED");
    let scope = json!({"scope": {"role": "r", "max_units": 1}});
    let headers = [("akashik-agent", "a"), ("akashik-message-id", "m-1")];
    let read = client.post_raw("/v1/attune", &headers, scope.to_string().as_bytes());
    assert_eq!(read.code(), "AGENT_NOT_REGISTERED", "a read is no repetition of a write");
}

#[test]
fn a_message_sent_twice_under_one_id_is_carried_out_once() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let first = record_as(&mut client, "akashik-message-id", "m-1", "one").json();
    assert_eq!(record_as(&mut client, "akashik-message-id", "m-1", "one").json(), first);
    assert_eq!(record_as(&mut client, "idempotency-key", "m-1", "one").json(), first);
    let again = envelope("RECORD", "a", "m-1", &committed("one"));
    assert_eq!(client.post("/v1/record", &again).json(), first);
    let reply = record_as(&mut client, "akashik-message-id", "m-1", "another");
    assert_eq!((reply.status, reply.code().as_str()), (409, "MESSAGE_ID_REUSED"));
    assert_eq!(contents(&mut client), ["\"one\""]);
}

#[test]
fn a_message_without_an_id_is_never_taken_for_another() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    client.say("a", "/v1/record", &committed("same"));
    client.say("a", "/v1/record", &committed("same"));
    assert_eq!(contents(&mut client).len(), 2);
}

#[test]
fn a_farewell_that_is_repeated_gets_its_first_answer() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let farewell = envelope("DEREGISTER", "a", "bye", &json!({"agent_id": "a"}));
    let first = client.post("/v1/deregister", &farewell);
    assert_eq!(first.json()["status"], "ok");
    assert_eq!(client.post("/v1/deregister", &farewell).json(), first.json());
}

#[test]
fn what_has_no_effect_comes_back_as_a_warning() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let mut payload = committed("x");
    payload["epoch"] = json!(7);
    payload["mood"] = json!("good");
    let reply = client.say("a", "/v1/record", &payload);
    let expected = json!([
        "payload.epoch was ignored: the Field assigns it",
        "payload.mood was ignored: unknown field"
    ]);
    assert_eq!((reply.status, &reply.json()["warnings"]), (200, &expected));
}

#[test]
fn register_is_rejected_without_an_error_where_an_operation_is_missing() {
    let server = TestServer::dev();
    let mut payload = register("a");
    payload["required_operations"] = json!(["RECORD", "TELEPORT"]);
    let reply = server.client().post("/v1/register", &payload);
    assert_eq!((reply.status, &reply.json()["status"]), (200, &json!("rejected")));
    assert_eq!(reply.json()["rejection_reason"], "unsupported operations: TELEPORT");
}

#[test]
fn an_error_is_the_whole_error_object() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let mut payload = committed("x");
    payload["intent"] = Value::Null;
    let reply = client.say("a", "/v1/record", &payload);
    assert_eq!(reply.status, 400);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let message = "payload.intent.purpose: is required and must not be blank";
    let expected = json!({
        "status": "rejected", "code": "MISSING_INTENT", "message": message, "operation": "RECORD",
        "recoverable": true, "rejection_reason": message,
        "suggested_action": "resubmit with intent.purpose: why this unit is recorded",
    });
    assert_eq!(reply.json(), expected);
}

#[test]
fn what_the_field_refuses_names_the_operation() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let relation = json!({"target_type": "decision", "target_id": "mem-x", "depth": "summary"});
    for (operation, payload) in [
        ("REGISTER", register("b")),
        ("RECORD", committed("x")),
        ("ATTUNE", attune()),
        ("DETECT", json!({"mode": "list"})),
        (
            "MERGE",
            json!({"conflict_id": "c", "strategy": "human_escalation", "resolution": {"rationale": "r"}}),
        ),
        ("SUBSCRIBE", json!({"action": "list"})),
        ("REPLAY", relation),
        ("COMPACT", json!({"strategy": "archive", "filter": {"max_age_epochs": 1}})),
        ("COORDINATE", json!({"action": "list"})),
        ("HANDOFF", json!({"action": "list"})),
        ("SESSION", json!({"action": "list"})),
        ("DEREGISTER", json!({"agent_id": "a"})),
    ] {
        let path = format!("/v1/{}", operation.to_lowercase());
        let speaker = if operation == "REGISTER" { "b" } else { "a" };
        let mut envelope = envelope(operation, speaker, &format!("m-{operation}"), &payload);
        envelope["epoch"] = json!(9_007_199_254_740_991_u64);
        let reply = client.post(&path, &envelope);
        assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"), "{operation}");
        assert!(reply.message().starts_with("epoch: "), "{operation}: {}", reply.message());
        assert_eq!(reply.json()["operation"], operation);
        let rejected = matches!(operation, "RECORD" | "REGISTER");
        let refused = rejected.then(|| json!(["rejected", reply.message()]));
        let fields = json!([reply.json()["status"], reply.json()["rejection_reason"]]);
        assert_eq!(fields, refused.unwrap_or_else(|| json!([null, null])), "{operation}");
    }
}
