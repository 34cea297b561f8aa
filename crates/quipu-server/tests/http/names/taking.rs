//! Names of agents that are stronger than a key for any agent: they are not taken by it, whether they take part now
//! or took part before, and nobody weaker sends them away.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::json;

use crate::{
    harn::{bearer, refusal, refused, task_calls::waiting},
    support::{Client, Events, Reply, Socket, TestServer, committed, envelope, path, register},
};

fn told(reply: &Reply) -> (u16, String) {
    (reply.status, reply.code())
}

fn insufficient() -> (u16, String) {
    (403, "INSUFFICIENT_AUTHORITY".to_owned())
}

/// A server on which `boss` takes part with authority 10.
fn with_boss() -> (TestServer, Client) {
    let server = TestServer::start();
    let mut operator = server.operator();
    assert_eq!(operator.post("/v1/register", &register("boss")).status, 200);
    (server, operator)
}

fn leaves(client: &mut Client, by: &str, who: &str) -> Reply {
    client.say(by, "/v1/deregister", &json!({"agent_id": who}))
}

#[test]
fn the_name_of_a_stronger_agent_that_left_is_not_taken_by_a_weaker_key() {
    let (server, mut operator) = with_boss();
    assert_eq!(leaves(&mut operator, "boss", "boss").status, 200);
    let weak = server.key(4);
    let mut client = server.client().with_key(&weak);
    assert_eq!(told(&client.post("/v1/register", &register("boss"))), insufficient());
    let as_boss = bearer(&server, &weak).with("akashik-agent", "boss");
    let body = json!({"workspace_id": "workspace_default"});
    assert_eq!(
        refusal(&{ as_boss }.post("/v1/sessions", &body)),
        refused(403, "permission_denied")
    );
    assert_eq!(told(&client.post("/v1/register", &register("new"))), (200, "OK".to_owned()));
    let own = server.key_for(KeyAgent::Named("boss".to_owned()), 4, None);
    let mut own = server.client().with_key(&own);
    assert_eq!(own.post("/v1/register", &register("boss")).status, 200, "its own key may");
    // It came back with 4, so who has as much may speak for it again.
    assert_eq!(client.say("boss", "/v1/record", &committed("as the boss")).status, 200);
}

#[test]
fn nobody_is_registered_in_the_name_of_a_stronger_agent() {
    let (server, mut operator) = with_boss();
    let mut client = server.client().with_key(&server.key(4));
    let message = envelope("REGISTER", "boss", "m-1", &register("new"));
    assert_eq!(told(&client.post("/v1/register", &message)), insufficient());
    let message = envelope("REGISTER", "new", "m-1", &register("boss"));
    assert_eq!(told(&client.post("/v1/register", &message)).1, "AGENT_ID_TAKEN");
    leaves(&mut operator, "boss", "boss");
    let message = envelope("REGISTER", "new", "m-2", &register("boss"));
    assert_eq!(told(&client.post("/v1/register", &message)), insufficient());
    let agents = server.operator().get("/v1/agents").json();
    assert_eq!(agents["agents"], json!([]));
}

#[test]
fn a_claim_in_the_name_of_a_stronger_agent_is_refused() {
    let (server, _) = with_boss();
    let claim = format!("/v1/tasks/{}/claim", waiting(&server, "t"));
    let as_boss = json!({"agent_id": "boss"});
    let reply = bearer(&server, &server.key(4)).post(&claim, &as_boss);
    assert_eq!(refusal(&reply), refused(403, "permission_denied"));
    let reply = bearer(&server, &server.key(10)).post(&claim, &as_boss);
    assert_eq!((reply.status, &reply.json()["assigned_agent_id"]), (200, &json!("boss")));
}

#[test]
fn nobody_weaker_sends_an_agent_away() {
    let (server, mut operator) = with_boss();
    let weak = json!({"id": "ana", "role": "r", "authority_level": 4});
    operator.post("/v1/register", &weak);
    let chief = server.key_for(KeyAgent::Named("chief".to_owned()), 8, None);
    let mut chief = server.client().with_key(&chief);
    chief.post("/v1/register", &register("chief"));
    assert_eq!(told(&leaves(&mut chief, "chief", "boss")), insufficient());
    assert_eq!(leaves(&mut chief, "chief", "ana").json()["status"], "ok");
    assert_eq!(leaves(&mut operator, "boss", "chief").json()["status"], "ok");
    assert_eq!(leaves(&mut operator, "boss", "boss").json()["status"], "ok", "who goes may go");
}

#[test]
fn what_is_pushed_to_a_stronger_agent_is_not_read_by_a_weaker_key() {
    let (server, mut operator) = with_boss();
    let subscribe = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let answer = operator.say("boss", "/v1/subscribe", &subscribe).json();
    let url = |kind: &str| path(answer[kind].as_str().unwrap()).to_owned();
    for (authority, sse, websocket) in [(4, 403, 403), (10, 200, 101)] {
        let key = format!("Bearer {}", server.key(authority));
        let header = [("authorization", key.as_str())];
        let events = Events::open(server.address, &url("sse_url"), &header);
        let socket = Socket::open(server.address, &url("websocket_url"), &header);
        assert_eq!((events.status, socket.status), (sse, websocket), "with {authority}");
    }
}
