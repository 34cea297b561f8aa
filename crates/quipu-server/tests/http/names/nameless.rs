//! A key for any agent that names nobody over the Harn protocol, and the names that the server keeps for itself.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::{Value, json};

use crate::{
    harn::{bearer, refusal, refused},
    support::{TestServer, committed, register},
};

/// The name of a key for any agent.
fn own_name(secret: &str) -> String {
    format!("key-{}", secret.split('_').nth(1).unwrap())
}

fn opens_a_session(server: &TestServer, secret: &str) -> String {
    let body = json!({"workspace_id": "workspace_default"});
    let reply = bearer(server, secret).post("/v1/sessions", &body);
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_key_that_names_nobody_speaks_under_a_name_of_its_own_and_never_as_the_operator() {
    let server = TestServer::start();
    let (operator, one, other) = (server.key(10), server.key(5), server.key(9));
    let session = opens_a_session(&server, &operator);
    for key in [&one, &other] {
        opens_a_session(&server, key);
    }
    let agents = server.operator().get("/v1/agents").json();
    let agents = agents["agents"].as_array().unwrap().iter();
    let mut names: Vec<String> = agents.map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    names.sort();
    let mut expected = [own_name(&one), own_name(&other), "operator".to_owned()];
    expected.sort();
    assert_eq!(names, expected);
    let cut = format!("/v1/sessions/{session}/truncate");
    let reply = bearer(&server, &one).post(&cut, &json!({"keep_first": 0}));
    assert_eq!(refusal(&reply), refused(403, "permission_denied"), "it is the operator's session");
}

#[test]
fn a_key_for_any_agent_takes_the_name_of_no_other_key() {
    let server = TestServer::start();
    let (own, other) = (server.key(5), server.key(9));
    opens_a_session(&server, &own);
    let name = own_name(&own);
    let says = |key: &str| {
        server.client().with_key(key).say(&name, "/v1/record", &committed("said by a key")).status
    };
    assert_eq!((says(&own), says(&other), says(&server.key(10))), (200, 403, 200));
}

#[test]
fn names_that_the_server_speaks_under_take_authority_10_or_a_key_of_their_own() {
    let server = TestServer::start();
    server.operator().post("/v1/register", &register("somebody"));
    for name in ["operator", "connector_webhook"] {
        let joins = |key: &str| {
            let reply = server.client().with_key(key).post("/v1/register", &register(name));
            (reply.status, reply.code())
        };
        for authority in [4, 9] {
            let key = server.key(authority);
            assert_eq!(joins(&key), (403, "INSUFFICIENT_AUTHORITY".to_owned()), "{name}");
            let reader = server.client().with_key(&key).with("akashik-agent", name);
            assert_eq!({ reader }.get("/v1/agents").status, 403, "{name}");
        }
        assert_eq!(joins(&server.key(10)).0, 200, "{name}");
        let of_its_own = server.key_for(KeyAgent::Named(name.to_owned()), 4, None);
        let mut bound = server.client().with_key(&of_its_own);
        assert_eq!(bound.say(name, "/v1/record", &committed("mine")).status, 200, "{name}");
    }
}

#[test]
fn without_keys_who_names_nobody_is_the_operator() {
    let server = TestServer::dev();
    let body = json!({"workspace_id": "workspace_default"});
    let stranger = crate::harn::stranger(&server);
    assert_eq!({ stranger }.post("/v1/sessions", &body).status, 201);
    let agents: Value = server.client().get("/v1/agents").json();
    assert_eq!(agents["agents"][0]["id"], "operator", "{agents}");
}
