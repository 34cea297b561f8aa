//! Several units in one request: `POST /v1/records`.

use serde_json::{Value, json};

use crate::support::{Client, Reply, TestServer, attune, committed, draft, envelope, register};

fn registered(server: &TestServer) -> Client {
    let mut client = server.client();
    client.post("/v1/register", &register("a"));
    client
}

fn send(client: &mut Client, id: &str, payload: &Value) -> Reply {
    let headers = [("akashik-agent", "a"), ("akashik-message-id", id)];
    client.post_raw("/v1/records", &headers, payload.to_string().as_bytes())
}

fn total(client: &mut Client) -> Value {
    client.get("/v1/field/status").json()["units"]["total"].clone()
}

#[test]
fn all_are_recorded_with_one_epoch_and_an_answer_for_each() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let mut second = draft("two");
    second["id"] = json!("mine");
    let reply = send(&mut client, "m-1", &json!({"units": [committed("one"), second]}));
    assert_eq!(reply.status, 200, "{}", reply.text());
    let answer = reply.json();
    assert_eq!((&answer["status"], &answer["epoch"]), (&json!("accepted"), &json!(2)));
    let units = answer["units"].as_array().unwrap();
    assert_eq!(units.len(), 2);
    assert_eq!(
        units[0],
        json!({"status": "accepted", "memory_unit_id": units[0]["memory_unit_id"], "epoch": 2,
               "conflicts_detected": []})
    );
    assert_eq!(
        units[1]["warnings"],
        json!(["payload.units[1].id was ignored: the Field assigns it"])
    );
    let mut ask = attune();
    ask["scope"]["include_own"] = json!(true);
    let seen = client.say("a", "/v1/attune", &ask).json();
    assert_eq!(seen["record"].as_array().unwrap().len(), 2);
    assert_eq!(
        send(&mut client, "m-1", &json!({"units": [committed("one")]})).code(),
        "MESSAGE_ID_REUSED"
    );
}

#[test]
fn one_that_is_wrong_refuses_them_all_and_the_error_says_which() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let mut blank = committed("two");
    blank["intent"]["purpose"] = json!(" ");
    let mut lost = committed("two");
    lost["relations"] = json!([{"type": "supersedes", "target_id": "mem-lost"}]);
    let refused = [
        (json!([committed("one"), blank]), "MISSING_INTENT", "payload.units[1].intent.purpose"),
        (json!([committed("one"), lost]), "UNIT_NOT_FOUND", "payload.units[1].relations[0]"),
        (json!([committed("one"), "two"]), "INVALID_PAYLOAD", "payload.units[1]"),
        (json!([]), "INVALID_PAYLOAD", "payload.units"),
        (json!({"0": committed("one")}), "INVALID_PAYLOAD", "payload.units"),
        (json!(vec![committed("one"); 257]), "INVALID_PAYLOAD", "at most 256"),
    ];
    for (units, code, says) in refused {
        let reply = send(&mut client, "m-1", &json!({ "units": units }));
        assert_eq!(reply.code(), code, "{}", reply.text());
        assert!(reply.message().contains(says), "{}", reply.text());
    }
    assert_eq!(total(&mut client), 0);
    let whole = json!({"units": vec![committed("one"); 256]});
    assert_eq!(send(&mut client, "m-1", &whole).status, 200);
    assert_eq!(total(&mut client), 256);
}

#[test]
fn there_is_no_envelope_for_it() {
    let server = TestServer::dev();
    let mut client = registered(&server);
    let payload = json!({"units": [committed("one")]});
    let reply = client.post("/v1/records", &envelope("RECORD", "a", "m-1", &payload));
    assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"));
}
