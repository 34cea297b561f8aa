//! Receipts and Outcomes over HTTP.

use quipu_replay::receipt::{ReceiptKey, Trusted, read_document, verify};
use serde_json::{Value, json};

use super::{
    bearer, refusal, refused,
    task_calls::{agent, hidden, settled},
    worker::{alice, ask, claimed, completed, done, id},
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
fn what_is_not_there_is_not_found_and_a_stranger_sees_nothing() {
    let server = TestServer::start();
    let mut client = alice(&server);
    let receipt = completed(&mut client)["receipt_id"].as_str().unwrap().to_owned();
    for path in [
        "/v1/receipts/receipt_none",
        "/v1/receipts/%2e%2e",
        "/v1/outcomes/outcome_none",
        "/v1/tasks/task_none/receipts",
    ] {
        assert_eq!(refusal(&client.get(path)), refused(404, "resource_not_found"), "{path}");
    }
    let reply = client.get("/v1/outcomes?limit=0");
    assert_eq!(refusal(&reply), refused(400, "invalid_request"));
    let reply = bearer(&server, "quipu_nobody").get(&format!("/v1/receipts/{receipt}"));
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"));
}

#[test]
fn what_a_task_of_a_closed_circle_left_behind_is_hidden_from_others() {
    let server = TestServer::start();
    hidden(&server, "secret-plans", "t-hidden");
    let mut maker = server.operator();
    let headers = [("akashik-agent", "maker"), ("akashik-session", "secret-plans")];
    let cancel = json!({"action": "cancel", "task_id": "t-hidden"}).to_string();
    let reply = maker.post_raw("/v1/coordinate", &headers, cancel.as_bytes());
    assert_eq!(reply.status, 200, "{}", reply.text());
    let ended = settled(&mut agent(&server, "maker"), "t-hidden");
    let (receipt, outcome) = (&ended["receipt_id"], &ended["outcome_id"]);
    let mut mallory = agent(&server, "mallory");
    for path in [
        "/v1/tasks/t-hidden/receipts".to_owned(),
        format!("/v1/receipts/{}", receipt.as_str().unwrap()),
        format!("/v1/outcomes/{}", outcome.as_str().unwrap()),
        "/v1/artifacts/artifact_event_log_t-hidden".to_owned(),
        "/v1/artifacts/artifact_event_log_t-hidden/content".to_owned(),
    ] {
        assert_eq!(agent(&server, "maker").get(&path).status, 200, "{path}");
        assert_eq!(refusal(&mallory.get(&path)), refused(404, "resource_not_found"), "{path}");
    }
    for list in ["/v1/outcomes", "/v1/artifacts"] {
        assert_eq!(mallory.get(list).json()["data"], json!([]), "{list}");
    }
}

#[test]
fn who_agreed_to_what_is_in_the_receipt() {
    let server = TestServer::start();
    let mut worker = alice(&server);
    let task = claimed(&mut worker);
    let question = json!({
        "for": "auth", "reason": "may I?", "class": "exec", "action": "run", "target": "ls",
    });
    done(&mut worker, "POST", &format!("/v1/tasks/{task}/await"), &question);
    let asked = worker.get(&format!("/v1/tasks/{task}/permission-requests")).json();
    let asked = id(&asked["data"][0]);
    let mut carol = bearer(&server, &server.key(10)).with("akashik-agent", "carol");
    let respond = format!("/v1/permission-requests/{asked}/respond");
    done(&mut carol, "POST", &respond, &json!({"approved": true, "reason": "so"}));
    done(&mut worker, "POST", &format!("/v1/tasks/{task}/complete"), &json!({"summary": "done"}));
    let list = worker.get(&format!("/v1/tasks/{task}/receipts")).json();
    let approval = &list["data"][0]["wire"]["payload"]["approvals"][0];
    assert_eq!(approval["approval_id"], asked);
    assert_eq!((&approval["actor"], &approval["action"]), (&json!("carol"), &json!("run")));
    assert_eq!(approval["decision"], "approved");
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
    let receipt = crate::support::wait_for("there is a receipt", || {
        client.get("/v1/tasks/t-1/receipts").json()["data"].get(0).cloned()
    });
    assert_eq!(receipt["wire"]["payload"]["lifecycle"]["final_state"], "CANCELED");
    assert_eq!(client.get("/v1/tasks/t-1").json()["status"], "CANCELED");
}
