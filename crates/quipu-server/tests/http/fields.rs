//! Several Fields in one server.

use serde_json::json;

use crate::support::{TestServer, attune, committed, register};

#[test]
fn what_is_recorded_in_one_field_is_not_seen_in_another() {
    let server = TestServer::start();
    let key = server.key(10);
    for field in ["red", "blue"] {
        let mut client = server.client().with_key(&key).with("Quipu-Field", field);
        assert_eq!(client.post("/v1/register", &register("a")).status, 200);
        assert_eq!(client.say("a", "/v1/record", &committed(field)).status, 200);
        let units = client.say("a", "/v1/attune", &attune()).json()["record"].clone();
        assert_eq!(units.as_array().unwrap().len(), 1);
        assert_eq!(units[0]["memory_unit"]["content"], field);
        assert_eq!(client.get("/v1/field/status").json()["field"], field);
    }
    let mut client = server.client().with_key(&key);
    assert_eq!(client.get("/v1/field/status").json()["field"], "default");
    assert_eq!(client.get("/v1/agents").json()["agents"], json!([]));
}

#[test]
fn only_who_may_make_fields_finds_one_that_is_not_there() {
    let server = TestServer::start();
    let in_field =
        |authority: u8| server.client().with_key(&server.key(authority)).with("Quipu-Field", "new");
    let mut weak = in_field(7);
    let reply = weak.post("/v1/register", &register("a"));
    assert_eq!((reply.status, reply.code().as_str()), (404, "FIELD_NOT_FOUND"));
    assert_eq!(weak.get("/v1/agents").code(), "FIELD_NOT_FOUND");
    assert_eq!(in_field(8).post("/v1/register", &register("a")).status, 200);
    assert_eq!(weak.get("/v1/agents").json()["agents"][0]["id"], "a");
}

#[test]
fn a_name_that_no_field_can_have_is_refused() {
    let server = TestServer::start();
    for name in ["..", "a/b", "Upper", "-x", "ä", &"a".repeat(64)] {
        let reply = server.operator().with("Quipu-Field", name).get("/v1/agents");
        assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"), "{name}");
        assert!(reply.message().contains("Quipu-Field"), "{}", reply.message());
    }
}
