//! What one key can take of the connections that all share, and that it is told when it has its part.

use tempfile::TempDir;

use crate::support::{Client, Server, Settings, quipu};

fn key(data: &TempDir, agent: &str) -> String {
    let data = data.path().to_str().unwrap();
    let made = quipu(["key", "create", "--data", data, "--agent", agent, "--authority", "4"]);
    made.succeeded().stdout.lines().last().unwrap().to_owned()
}

/// The status of a first request on a new connection, and the connection.
fn knock(server: &Server, key: &str) -> (u16, Client) {
    let mut client = server.client().with_key(key);
    let reply = client.get("/v1/whoami");
    if reply.status != 200 {
        assert_eq!((reply.status, reply.json()["code"].as_str()), (429, Some("RATE_LIMITED")));
        let said = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(said.contains("connections already"), "{said}");
    }
    (reply.status, client)
}

#[test]
fn one_key_never_has_the_last_connection_of_the_others() {
    let data = TempDir::new().unwrap();
    let [greedy, other] = ["a", "b"].map(|agent| key(&data, agent));
    // Half of the handles are for connections, half of these for strangers, and half of the rest is one key's.
    let server = Settings::new(data.path()).with_handles("128").start();
    let mut crowd = Vec::new();
    let mut refused = 0;
    for _ in 0..48 {
        match knock(&server, &greedy) {
            (200, client) => crowd.push(client),
            (_, _) => refused += 1,
        }
    }
    assert_eq!((crowd.len(), refused), (16, 32));
    let mut others: Vec<Client> = Vec::new();
    for _ in 0..4 {
        let (status, client) = knock(&server, &other);
        assert_eq!(status, 200, "another key has places of its own");
        others.push(client);
    }
    assert!(crowd.iter_mut().all(|client| client.get("/v1/whoami").status == 200));
    drop(crowd.pop());
    crate::support::wait_until(30, "the place is free", || {
        (knock(&server, &greedy).0 == 200).then_some(())
    });
}
