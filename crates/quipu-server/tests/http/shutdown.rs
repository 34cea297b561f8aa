//! What happens to requests when the server is told to stop.

use std::{net::TcpStream, time::Duration};

use quipu_wire::ErrorCode;

use crate::support::{Client, Setup, TestServer, committed, register, wait_until};

/// Sends the head of a RECORD and waits until the server asks for its body.
fn begin(server: &TestServer, body: &str) -> Client {
    let mut client = server.client();
    client.post("/v1/register", &register("a"));
    let length = body.len().to_string();
    let headers = [
        ("akashik-agent", "a"),
        ("content-type", "application/json"),
        ("content-length", length.as_str()),
        ("expect", "100-continue"),
    ];
    let head = client.head("POST", "/v1/record", &headers);
    client.write(format!("{head}\r\n").as_bytes());
    assert_eq!(client.read().status, 100);
    client
}

fn wait_until_nobody_listens(server: &TestServer) {
    wait_until("nobody listens", || TcpStream::connect(server.address).is_err());
}

#[test]
fn a_request_under_way_is_answered_and_the_fields_are_closed_after_it() {
    let mut server = TestServer::with(Setup { dev: true, ..Setup::default() });
    let body = committed("the last word").to_string();
    let mut client = begin(&server, &body);
    server.stop();
    wait_until_nobody_listens(&server);
    client.write(body.as_bytes());
    let reply = client.read();
    assert_eq!((reply.status, reply.json()["status"].as_str()), (200, Some("accepted")));
    server.join();
    assert!(client.is_closed());
    assert_eq!(server.fields.opened()[0].status().units.total, 1);
    let late = quipu_core::Message {
        id: "late".to_owned(),
        agent: "a".to_owned(),
        session: None,
        epoch: 0,
        authority: 10,
        own_key: true,
        key: None,
    };
    let (payload, _) = quipu_wire::akashik::RegisterPayload::parse(register("b")).unwrap();
    let field = server.fields.opened()[0].clone();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let error = runtime.block_on(field.register(late, payload)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FieldUnavailable);
}

#[test]
fn a_request_that_takes_longer_than_the_grace_is_cut_off() {
    let grace = Duration::from_millis(50);
    let mut server = TestServer::with(Setup { dev: true, grace, ..Setup::default() });
    let mut client = begin(&server, &committed("never sent").to_string());
    server.stop();
    server.join();
    assert!(client.is_closed());
    assert_eq!(server.fields.opened()[0].status().units.total, 0);
}

#[test]
fn connections_that_wait_idly_do_not_hold_the_server_up() {
    let mut server = TestServer::dev();
    let mut clients: Vec<Client> = (0..20).map(|_| server.client()).collect();
    for client in &mut clients {
        assert_eq!(client.get("/healthz").status, 200);
    }
    server.stop();
    server.join();
    assert!(clients.iter_mut().all(Client::is_closed));
}
