//! Two servers over one log: a client that moves between them finds what it did.

use std::sync::Arc;

use quipu_log::{Engine, MemoryEngine};

use crate::support::{Setup, TestServer, attune, committed, register};

fn two() -> [TestServer; 2] {
    let log: Arc<dyn Engine> = Arc::new(MemoryEngine::shared());
    [(); 2].map(|()| {
        TestServer::with(Setup { dev: true, engine: Arc::clone(&log), ..Setup::default() })
    })
}

#[test]
fn a_client_that_moves_between_nodes_reads_its_own_writes() {
    let nodes = two();
    let mut position = nodes[0].client().post("/v1/register", &register("a")).position();
    assert_eq!(position, 1);
    for number in 0..20 {
        let [here, there] = [&nodes[number % 2], &nodes[(number + 1) % 2]];
        // Nobody waits: also a write finds what the other node knows.
        let recorded = here.client().say("a", "/v1/record", &committed(&format!("fact {number}")));
        assert_eq!(recorded.status, 200, "{}", recorded.text());
        assert!(recorded.position() > position);
        position = recorded.position();
        let mut client = there.client().with("Quipu-Min-Position", &position.to_string());
        let answer = client.say("a", "/v1/attune", &attune());
        assert_eq!(answer.json()["record"].as_array().unwrap().len(), number + 1);
        assert!(answer.position() >= position);
        let status = client.get("/v1/field/status");
        assert_eq!(status.json()["position"], status.position());
        let mut harn = client.with("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25");
        assert!(harn.get("/v1/workspaces").position() >= position);
    }
}

#[test]
fn a_position_that_the_log_of_one_node_does_not_have_is_refused() {
    let server = TestServer::dev();
    assert_eq!(server.client().post("/v1/register", &register("a")).status, 200);
    let at = |position: &str| {
        let mut client = server.client().with("Quipu-Min-Position", position);
        let reply = client.get("/v1/agents");
        (reply.status, reply.code())
    };
    for none in ["2", "-1", "x", "1.5", ""] {
        assert_eq!(at(none), (400, "INVALID_PAYLOAD".to_owned()), "{none}");
    }
}

#[test]
fn nobody_is_told_of_a_field_that_it_may_not_see() {
    let server = TestServer::start();
    assert!(server.client().get("/v1/agents").header("quipu-position").is_none());
    assert!(server.client().get("/healthz").header("quipu-position").is_none());
}
