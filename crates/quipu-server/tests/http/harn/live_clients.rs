//! Live clients of a Session over HTTP, and what a Message says of the client that it came through.

use serde_json::{Value, json};

use super::{
    actors::{Actor, user},
    task_calls::hidden,
};
use crate::support::TestServer;

fn refused(status: u16, code: &str, param: &str) -> (u16, String, String) {
    (status, code.to_owned(), param.to_owned())
}

#[test]
fn clients_come_observe_take_over_and_go_as_the_protocol_has_it() {
    let server = TestServer::start();
    let mut ann = Actor::operator(&server);
    let session = ann.session();
    let at = |verb: &str| format!("/v1/sessions/{session}/{verb}");
    let desktop =
        json!({"client_id": "desktop", "mode": "controller", "metadata": {"surface": "desktop"}});
    let desktop = ann.done("POST", &at("attach"), &desktop);
    assert_eq!(
        (&desktop["active_controller_id"], &desktop["previous_controller_id"]),
        (&json!("desktop"), &Value::Null)
    );
    assert_eq!(
        (&desktop["client"]["prompt_injection"], &desktop["client"]["permission_routing"]),
        (&json!(true), &json!(true))
    );
    let mobile = ann.done("POST", &at("attach"), &json!({"client_id": "mobile"}));
    assert_eq!(
        (&mobile["active_controller_id"], &mobile["client"]["mode"]),
        (&json!("desktop"), &json!("observer"))
    );
    let reason = json!({"client_id": "mobile", "reason": "on the way"});
    let taken = ann.done("POST", &at("takeover"), &reason);
    assert_eq!(
        (&taken["previous_controller_id"], &taken["active_controller_id"]),
        (&json!("desktop"), &json!("mobile"))
    );
    assert_eq!(
        (&taken["clients"][0]["mode"], &taken["clients"][1]["mode"]),
        (&json!("observer"), &json!("controller"))
    );
    let list = ann.read(&at("live-clients"));
    assert_eq!((&list["object"], list["data"].as_array().map(Vec::len)), (&json!("list"), Some(2)));
    let shown = ann.read(&format!("/v1/sessions/{session}"));
    assert_eq!(
        (&shown["live_controller_id"], &shown["live_clients"]),
        (&json!("mobile"), &list["data"])
    );
    let beat = ann.done("POST", &at("heartbeat"), &json!({"client_id": "mobile"}));
    assert_eq!(beat["client"]["client_id"], "mobile");
    let gone = ann.done("POST", &at("detach"), &json!({"client_id": "mobile"}));
    assert_eq!((&gone["client"], &gone["active_controller_id"]), (&Value::Null, &Value::Null));
    let again = ann.refused("POST", &at("detach"), &json!({"client_id": "mobile"}));
    assert_eq!(again, refused(404, "resource_not_found", "client_id"));
    let kinds = ann.kinds(&at("events"));
    let live: Vec<_> = kinds.iter().filter(|kind| kind.starts_with("vendor.live")).collect();
    assert_eq!(
        live,
        [
            "vendor.live_client.attached",
            "vendor.live_client.attached",
            "vendor.live_client.took_over",
            "vendor.live_client.detached"
        ]
    );
    let events = ann.read(&at("events"));
    let took = events["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["event"] == "vendor.live_client.took_over")
        .unwrap();
    assert_eq!(
        (&took["payload"]["reason"], &took["payload"]["previous_controller_id"]),
        (&json!("on the way"), &json!("desktop"))
    );
    ann.done("POST", &at("close"), &Value::Null);
    let over = ann.refused("POST", &at("attach"), &json!({"client_id": "x"}));
    assert_eq!(over.0, 409);
    assert_eq!(ann.read(&at("live-clients"))["data"], json!([]));
}

#[test]
fn only_members_come_and_the_built_in_session_has_no_clients() {
    let server = TestServer::start();
    let mut ann = Actor::operator(&server);
    let session = ann.session();
    let mut eve = Actor::agent(&server, "eve", 5);
    hidden(&server, "closed", "task_hidden");
    for (id, expected) in [
        (session.as_str(), refused(403, "permission_denied", "")),
        ("closed", refused(404, "resource_not_found", "")),
        ("session_nowhere", refused(404, "resource_not_found", "")),
    ] {
        for verb in ["attach", "takeover", "detach", "heartbeat"] {
            let path = format!("/v1/sessions/{id}/{verb}");
            assert_eq!(eve.refused("POST", &path, &json!({"client_id": "e"})), expected, "{path}");
        }
        let inputs = format!("/v1/sessions/{id}/inputs");
        assert_eq!(eve.refused("POST", &inputs, &json!({"kind": "list"})), expected);
        assert_eq!(eve.get(&format!("/v1/sessions/{id}/live-clients")).status, expected.0);
    }
    let built_in =
        ann.refused("POST", "/v1/sessions/session_default/attach", &json!({"client_id": "a"}));
    assert_eq!(built_in, refused(422, "policy_violation", ""));
    assert_eq!(ann.read("/v1/sessions/session_default/live-clients")["data"], json!([]));
}

#[test]
fn a_message_names_the_client_in_control_and_no_other() {
    let server = TestServer::start();
    let mut ann = Actor::operator(&server);
    let session = ann.session();
    let mut bob = Actor::agent(&server, "bob", 5);
    bob.say(&session, "here");
    let at = |verb: &str| format!("/v1/sessions/{session}/{verb}");
    let through = |client: &str| {
        let mut message = user("go on");
        message["metadata"] = json!({"live_session": {"client_id": client}});
        json!({"message": message})
    };
    ann.done("POST", &at("attach"), &json!({"client_id": "a", "mode": "controller"}));
    bob.done("POST", &at("attach"), &json!({"client_id": "b"}));
    let param = "message.metadata.live_session.client_id";
    let denied = refused(403, "permission_denied", param);
    assert_eq!(bob.refused("POST", &at("messages"), &through("a")), denied, "another's");
    assert_eq!(bob.refused("POST", &at("messages"), &through("b")), denied, "an observer");
    let said = ann.made(&at("messages"), &through("a"));
    assert_eq!(said["metadata"]["live_session"]["client_id"], "a");
    bob.say(&session, "whoever names no client just speaks");
    let body =
        json!({"workspace_id": "workspace_default", "initial_messages": [through("a")["message"]]});
    assert_eq!(
        ann.refused("POST", "/v1/sessions", &body),
        refused(400, "invalid_request", "initial_messages")
    );
}
