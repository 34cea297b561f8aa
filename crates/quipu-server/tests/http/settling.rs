//! MERGE over HTTP, and our own routes around it: retract, one unit, the log.

use serde_json::{Value, json};

use crate::support::{Client, TestServer, attune, committed, envelope, register};

fn disputed(client: &mut Client) -> (Value, Value) {
    for agent in ["ann", "bob", "sam"] {
        client.post("/v1/register", &register(agent));
    }
    let older = client.say("ann", "/v1/record", &committed("23%")).json();
    let mut newer = committed("14%");
    newer["confidence"]["score"] = json!(0.75);
    newer["relations"] = json!([{"type": "contradicts", "target_id": older["memory_unit_id"]}]);
    (older, client.say("bob", "/v1/record", &newer).json())
}

#[test]
fn a_merge_in_an_envelope_settles_the_conflict_and_reads_show_the_resolution() {
    let server = TestServer::start();
    let mut client = server.operator();
    let (older, newer) = disputed(&mut client);
    let conflict = newer["conflicts_detected"][0].clone();
    let payload = json!({"conflict_id": conflict, "strategy": "confidence_weighted",
                         "resolution": {"rationale": "surer", "note": "?"}});
    let reply = client.post("/v1/merge", &envelope("MERGE", "sam", "m-1", &payload));
    assert_eq!(reply.status, 200, "{}", reply.text());
    let answer = reply.json();
    assert_eq!(answer["status"], "resolved");
    let epoch = answer["conflict"]["resolution"]["epoch_resolved"].clone();
    assert_eq!(
        answer["conflict"]["resolution"],
        json!({"strategy": "confidence_weighted", "winner_id": newer["memory_unit_id"],
               "rationale": "surer", "resolved_by": "sam", "epoch_resolved": epoch})
    );
    assert_eq!(
        answer["side_effects"],
        json!({"superseded_units": [older["memory_unit_id"]], "new_unit_id": null,
               "notified_agents": ["ann", "bob"]})
    );
    assert_eq!(answer["warnings"], json!(["payload.resolution.note was ignored: unknown field"]));
    let listed = client.say("sam", "/v1/detect", &json!({"mode": "list"})).json();
    assert_eq!(listed["conflicts"][0], answer["conflict"]);
    assert_eq!(client.get("/v1/conflicts").json()["conflicts"], json!([]));
    assert_eq!(client.say("sam", "/v1/attune", &attune()).json()["conflicts"], json!([]));
}

#[test]
fn an_escalated_conflict_is_still_open_and_says_why_it_waits() {
    let server = TestServer::start();
    let mut client = server.operator();
    let (_, newer) = disputed(&mut client);
    let payload = json!({"conflict_id": newer["conflicts_detected"][0],
                         "strategy": "human_escalation", "resolution": {"rationale": "too close"}});
    client.say("sam", "/v1/merge", &payload);
    for conflicts in [
        client.get("/v1/conflicts").json()["conflicts"].clone(),
        client.say("sam", "/v1/attune", &attune()).json()["conflicts"].clone(),
    ] {
        assert_eq!(conflicts[0]["status"], "escalated");
        assert_eq!(conflicts[0]["resolution"]["winner_id"], Value::Null);
        assert_eq!(conflicts[0]["resolution"]["rationale"], "too close");
    }
}

#[test]
fn what_is_wrong_with_a_merge_is_said_in_the_error_object() {
    let server = TestServer::start();
    let mut client = server.operator();
    let (older, newer) = disputed(&mut client);
    let conflict = newer["conflicts_detected"][0].clone();
    let resolution = json!({"rationale": "r", "winner_id": older["memory_unit_id"]});
    for (payload, expected) in [
        (json!({}), (400, "INVALID_PAYLOAD")),
        (
            json!({"conflict_id": "conflict-001", "strategy": "vote", "resolution": resolution}),
            (404, "CONFLICT_NOT_FOUND"),
        ),
        (
            json!({"conflict_id": conflict, "strategy": "last_write_wins", "resolution": resolution}),
            (409, "MERGE_FAILED"),
        ),
        (
            json!({"conflict_id": conflict, "strategy": "merge", "resolution": resolution}),
            (400, "INVALID_PAYLOAD"),
        ),
    ] {
        let reply = client.say("sam", "/v1/merge", &payload);
        assert_eq!((reply.status, reply.code().as_str()), expected, "{payload}");
        assert_eq!(reply.json()["operation"], "MERGE");
    }
}

#[test]
fn a_retracted_unit_is_read_by_its_id_and_attuned_to_no_more() {
    let server = TestServer::start();
    let mut client = server.operator();
    client.post("/v1/register", &register("ann"));
    let unit =
        client.say("ann", "/v1/record", &committed("wrong")).json()["memory_unit_id"].clone();
    let path = format!("/v1/units/{}", unit.as_str().unwrap());
    assert_eq!(client.get(&path).json()["status"], "active");
    let refused = client.say("ann", "/v1/retract", &json!({"unit_id": unit}));
    assert_eq!((refused.status, refused.code().as_str()), (400, "MISSING_INTENT"));
    assert_eq!(refused.json()["operation"], Value::Null);
    let payload = json!({"unit_id": unit, "intent": {"purpose": "a typing error"}});
    let enveloped = client.post("/v1/retract", &envelope("RECORD", "ann", "m-1", &payload));
    assert_eq!(enveloped.code(), "INVALID_PAYLOAD");
    let answer = client.say("ann", "/v1/retract", &payload).json();
    assert_eq!((&answer["status"], &answer["was"]), (&json!("ok"), &json!("active")));
    assert_eq!(client.get(&path).json()["status"], "retracted");
    assert_eq!(client.say("ann", "/v1/attune", &attune()).json()["record"], json!([]));
    let twice = client.say("ann", "/v1/retract", &payload);
    assert_eq!((twice.status, twice.code().as_str()), (409, "INVALID_TRANSITION"));
}

#[test]
fn a_unit_is_read_with_a_key_and_an_unknown_one_is_not_found() {
    let server = TestServer::start();
    assert_eq!(server.client().get("/v1/units/mem-1").code(), "UNAUTHENTICATED");
    let mut audit = server.client().with_key(&server.key(1));
    assert_eq!(audit.get("/v1/units/mem-1").code(), "INSUFFICIENT_AUTHORITY");
    server.operator().post("/v1/register", &register("ann"));
    for path in ["/v1/units/mem-1", "/v1/units/%00", "/v1/units/mem-00000000000000000000000000"] {
        let reply = server.operator().get(path);
        assert_eq!((reply.status, reply.code().as_str()), (404, "UNIT_NOT_FOUND"), "{path}");
    }
    assert_eq!(server.operator().get("/v1/units/%ff").code(), "INVALID_PAYLOAD");
}

#[test]
fn the_log_is_read_in_pages_and_a_wrong_question_is_refused() {
    let server = TestServer::start();
    let mut client = server.operator();
    client.post("/v1/register", &register("ann"));
    for content in ["one", "two", "three"] {
        client.say("ann", "/v1/record", &committed(content));
    }
    let first = client.get("/v1/log?limit=2").json();
    assert_eq!(first["commits"].as_array().unwrap().len(), 2);
    assert_eq!(first["commits"][0]["header"]["events"][0]["event"]["kind"], "agent.registered");
    assert_eq!((&first["next_from"], &first["head"]["position"]), (&json!(3), &json!(4)));
    let rest = client.get("/v1/log?from=3").json();
    assert_eq!(rest["commits"][1]["hash"], rest["head"]["hash"]);
    assert_eq!(rest["next_from"], Value::Null);
    assert!(!client.get("/v1/log").text().contains("it is a test"), "no text is in it");
    for wrong in ["from=x", "limit=0", "limit=-1", "since=3"] {
        let reply = client.get(&format!("/v1/log?{wrong}"));
        assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"), "{wrong}");
    }
    assert_eq!(client.get("/v1/log?limit=99999999&from=99").json()["commits"], json!([]));
}
