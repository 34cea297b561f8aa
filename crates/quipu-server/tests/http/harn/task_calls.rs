//! Calls about Tasks that the tests share.

use serde_json::{Value, json};

use super::{bearer, callers::VERSION};
use crate::support::{Client, Events, Reply, Socket, TestServer, register, wait_for};

/// A caller for any agent, with all authority.
pub(crate) fn operator(server: &TestServer) -> Client {
    bearer(server, &server.key(10))
}

/// A caller that speaks as this agent and has no authority over others.
pub(crate) fn agent(server: &TestServer, name: &str) -> Client {
    let named = quipu_server::secrets::keys::KeyAgent::Named(name.to_owned());
    bearer(server, &server.key_for(named, 5, None))
}

/// Makes a Task that waits for a worker.
pub(crate) fn waiting(server: &TestServer, id: &str) -> String {
    let mut client = server.operator();
    client.post("/v1/register", &register("maker"));
    let create = json!({"action": "create",
        "task": {"id": id, "title": "Price it", "intent": {"purpose": "To sell"}}});
    let reply = client.say("maker", "/v1/coordinate", &create);
    assert_eq!(reply.status, 200, "{}", reply.text());
    id.to_owned()
}

/// A session that only `maker` knows of, with a Task in it.
pub(crate) fn hidden(server: &TestServer, session: &str, id: &str) {
    let mut client = server.operator();
    client.post("/v1/register", &register("maker"));
    let create = json!({"action": "create", "session_id": session,
        "session": {"goal": "g", "policy": {"join": "invite"}}});
    assert_eq!(client.say("maker", "/v1/session", &create).status, 200);
    let create = json!({"action": "create",
        "task": {"id": id, "title": "Secret", "intent": {"purpose": "Hidden"}}});
    let headers = [("akashik-agent", "maker"), ("akashik-session", session)];
    let reply = client.post_raw("/v1/coordinate", &headers, create.to_string().as_bytes());
    assert_eq!(reply.status, 200, "{}", reply.text());
}

/// The body of an answer that must have this status.
pub(crate) fn expect(reply: Reply, status: u16) -> Value {
    let Reply { status: given, body, .. } = reply;
    assert_eq!(given, status, "{}", String::from_utf8_lossy(&body));
    serde_json::from_slice(&body).unwrap()
}

/// The Task once it has ended.
pub(crate) fn settled(client: &mut Client, id: &str) -> Value {
    wait_for("the Task has ended", || {
        let task = expect(client.get(&format!("/v1/tasks/{id}")), 200);
        let ended = ["COMPLETED", "FAILED", "CANCELED"].contains(&task["status"].as_str().unwrap());
        ended.then_some(task)
    })
}

/// Opens a stream of Events.
pub(crate) fn stream(server: &TestServer, path: &str, more: &[(&str, &str)]) -> Events {
    let key = format!("Bearer {}", server.key(10));
    let headers = [(VERSION, super::APRIL), ("authorization", key.as_str())];
    Events::open(server.address, path, &[&headers, more].concat())
}

/// Opens a WebSocket as a browser does: everything among the subprotocols.
pub(crate) fn socket(server: &TestServer, path: &str) -> Socket {
    let offered = format!("bearer.{}, {}", server.key(10), super::APRIL);
    Socket::open(server.address, path, &[("sec-websocket-protocol", offered.as_str())])
}
