//! Receipts and Outcomes over HTTP.

use quipu_replay::receipt::{ReceiptKey, Trusted, read_document, verify};
use serde_json::{Value, json};

use super::{
    bearer, refusal, refused,
    worker::{alice, ask, completed, done, id},
};
use crate::support::TestServer;

/// The key that the agent card advertises.
fn advertised(server: &TestServer) -> ReceiptKey {
    let card = server.client().get("/v1/agent-card").json();
    let key = &card["metadata"]["receipt_keys"][0];
    let text = |name: &str| key[name].as_str().unwrap().to_owned();
    format!("{}={}", text("key_id"), text("public_key")).parse().unwrap()
}

#[test]
fn a_completed_task_points_at_an_outcome_and_a_receipt_that_its_card_proves() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let task = completed(&mut client);
    assert_eq!(task["status"], "COMPLETED");
    let list = client.get(&format!("/v1/tasks/{}/receipts", id(&task))).json();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    let receipt = client.get(&format!("/v1/receipts/{}", task["receipt_id"].as_str().unwrap()));
    let resource = receipt.json();
    assert_eq!(resource, list["data"][0]);
    assert_eq!(resource["object"], "receipt");
    assert_eq!(resource["format"], "receipt-2026-04-25");
    assert_eq!(resource["subject"], json!({"object": "task", "id": id(&task)}));
    let keys = [advertised(&server)];
    let payload = &resource["wire"]["payload"];
    let verdict = verify(payload, Trusted { keys: &keys, previous: Some(None), merkle_root: None });
    assert!(verdict.is_valid(), "{:?}", verdict.findings);
    let outcome = client.get(&format!("/v1/outcomes/{}", task["outcome_id"].as_str().unwrap()));
    let outcome = outcome.json();
    assert_eq!(
        (&outcome["status"], &outcome["receipt_id"]),
        (&json!("SUCCEEDED"), &task["receipt_id"])
    );
    let listed = client.get(&format!("/v1/outcomes?task_id={}", id(&task))).json();
    assert_eq!(listed["data"], json!([outcome]));
    assert_eq!(client.get("/v1/outcomes?task_id=task_none").json()["data"], json!([]));
}

#[test]
fn a_receipt_comes_bare_in_canonical_json_and_cbor_where_they_are_asked_for() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let task = completed(&mut client);
    let path = format!("/v1/receipts/{}", task["receipt_id"].as_str().unwrap());
    let whole = client.get(&path).json()["wire"]["payload"].clone();
    for (accept, media_type) in [
        ("application/vnd.harn.receipt+json", "application/vnd.harn.receipt+json"),
        ("application/vnd.harn.receipt+cbor", "application/vnd.harn.receipt+cbor"),
    ] {
        let reply = client.send("GET", &path, &[("accept", accept)], None);
        let expected = format!("{media_type}; schema=receipt-2026-04-25");
        assert_eq!(reply.header("content-type"), Some(expected.as_str()));
        assert_eq!(read_document(&reply.body).unwrap().0, whole);
    }
    for accept in ["*/*", "text/html", "nonsense"] {
        let reply = client.send("GET", &path, &[("accept", accept)], None);
        assert_eq!((reply.status, reply.json()["object"].clone()), (200, json!("receipt")));
    }
}

#[test]
fn a_check_answers_what_it_found_and_writes_nothing() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let task = completed(&mut client);
    let path = format!("/v1/receipts/{}/verify", task["receipt_id"].as_str().unwrap());
    let head = |client: &mut crate::support::Client| {
        client.get(&format!("/v1/tasks/{}/events", id(&task))).json()
    };
    let before = head(&mut client);
    let found = client.send("POST", &path, &[], None).json();
    assert_eq!((&found["valid"], &found["reason"]), (&json!(true), &Value::Null));
    assert!(found["checked_at"].is_string());
    let own = advertised(&server).to_string();
    assert_eq!(done(&mut client, "POST", &path, &json!({"trust_anchor": own}))["valid"], true);
    let key = quipu_replay::receipt::ReceiptSigner::from_seed("stranger", &[1; 32]);
    let other = json!({"trust_anchor": key.public().to_string()});
    let found = done(&mut client, "POST", &path, &other);
    assert_eq!(found["valid"], false);
    assert_eq!(found["details"]["findings"][0]["name"], "unsigned");
    let early = json!({"at_time": "2001-01-01T00:00:00Z"});
    assert_eq!(done(&mut client, "POST", &path, &early)["valid"], false);
    for bad in [json!({"trust_anchor": "x"}), json!({"at_time": "noon"}), json!([])] {
        let reply = ask(&mut client, "POST", &path, &bad);
        assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{bad}");
    }
    assert_eq!(head(&mut client), before);
}

#[test]
fn what_is_not_there_and_what_is_hidden_look_the_same() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let session = done(
        &mut client,
        "POST",
        "/v1/sessions",
        &json!({"workspace_id": "workspace_default", "metadata": {}}),
    );
    let path = format!("/v1/sessions/{}/tasks", id(&session));
    let task = id(&done(&mut client, "POST", &path, &json!({"input": "count"})));
    let stream = format!("/v1/tasks/{task}");
    let ended = loop {
        let shown = client.get(&stream).json();
        if shown["status"] == "COMPLETED" {
            break shown;
        }
        std::thread::yield_now();
    };
    let (receipt, outcome) = (&ended["receipt_id"], &ended["outcome_id"]);
    assert!(receipt.is_string() && outcome.is_string(), "{ended}");
    for path in [
        "/v1/receipts/receipt_none".to_owned(),
        "/v1/receipts/%2e%2e".to_owned(),
        "/v1/outcomes/outcome_none".to_owned(),
        "/v1/tasks/task_none/receipts".to_owned(),
    ] {
        assert_eq!(refusal(&client.get(&path)), refused(404, "resource_not_found"), "{path}");
    }
    let reply = client.get(&format!("/v1/tasks/{task}/receipts?limit=0"));
    assert_eq!(refusal(&reply), refused(400, "invalid_request"));
    let mut stranger = bearer(&server, "quipu_nobody");
    let reply = stranger.get(&format!("/v1/receipts/{}", receipt.as_str().unwrap()));
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"));
}

#[test]
fn an_akashik_task_has_its_receipt_too() {
    let server = TestServer::start();
    let mut client = server.operator();
    let agent = json!({"id": "ann", "role": "worker", "interests": []});
    assert_eq!(client.say("ann", "/v1/register", &agent).status, 200);
    let new = json!({"id": "t-1", "title": "count", "intent": {"purpose": "to know"}});
    let made = client.say("ann", "/v1/coordinate", &json!({"action": "create", "task": new}));
    assert_eq!(made.status, 200, "{}", made.text());
    let canceled = json!({"action": "cancel", "task_id": "t-1"});
    assert_eq!(client.say("ann", "/v1/coordinate", &canceled).status, 200);
    let mut client = alice(&server);
    let receipt = loop {
        let list = client.get("/v1/tasks/t-1/receipts").json();
        if let Some(receipt) = list["data"].get(0) {
            break receipt.clone();
        }
        std::thread::yield_now();
    };
    assert_eq!(receipt["wire"]["payload"]["lifecycle"]["final_state"], "CANCELED");
    assert_eq!(client.get("/v1/tasks/t-1").json()["status"], "CANCELED");
}
