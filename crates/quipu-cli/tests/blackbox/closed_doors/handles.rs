//! File handles: the server asks for as many as it gets, and whoever opens connections leaves some to storage.

use std::net::TcpStream;

use serde_json::json;
use tempfile::TempDir;

use crate::support::{Client, Settings, finding, quipu, scope, wait_until};

fn key(data: &TempDir) -> String {
    let data = data.path().to_str().unwrap();
    let made = quipu(["key", "create", "--data", data, "--agent", "*", "--authority", "10"]);
    made.succeeded().stdout.lines().last().unwrap().to_owned()
}

#[test]
fn idle_connections_leave_handles_to_a_field_that_is_touched_meanwhile() {
    let data = TempDir::new().unwrap();
    let key = key(&data);
    let server = Settings::new(data.path()).with_handles("256").start();
    let crowd: Vec<TcpStream> =
        (0..600).filter_map(|_| TcpStream::connect(server.address).ok()).collect();
    assert!(crowd.len() > 256, "{}", crowd.len());
    let touch = |field: &str| {
        let mut client = Client::connect(server.address).unwrap();
        client = client.with_key(&key).with_header("quipu-field", field);
        client.register("a", "tester");
        assert_eq!(client.record("a", finding("still here"))["status"], "accepted");
        client.attune("a", scope(5));
    };
    for field in ["one", "two", "three"] {
        touch(field);
    }
    let ready = server.client().with_key(&key).get("/readyz");
    assert_eq!(ready.status, 200, "{}", ready.text());
    assert_eq!(ready.json()["fields"].as_array().unwrap().len(), 4);
    drop(crowd);
}

#[test]
fn the_server_asks_for_as_many_handles_as_it_gets() {
    let data = TempDir::new().unwrap();
    let key = key(&data);
    let server = Settings::new(data.path()).with_handles("-S 48").start();
    let mut clients: Vec<Client> = Vec::new();
    for _ in 0..100 {
        let mut client = server.client().with_key(&key);
        assert_eq!(client.get("/v1/whoami").status, 200);
        clients.push(client);
    }
    assert!(clients.iter_mut().all(|client| client.get("/v1/whoami").status == 200));
}

#[test]
fn a_field_whose_log_could_not_be_opened_is_served_as_soon_as_it_can() {
    let data = TempDir::new().unwrap();
    let key = key(&data);
    let server = Settings::new(data.path()).start();
    // Where its folder belongs there is something else for now, as where no handle is left to make it.
    let folder = data.path().join("fields").join("late");
    std::fs::write(&folder, "").unwrap();
    let speak = || server.client().with_key(&key).with_header("quipu-field", "late");
    let register = || {
        let payload = json!({"id": "a", "role": "tester", "interests": []});
        speak().operate("REGISTER", "a", payload)
    };
    assert_eq!(register().status, 503, "nothing can be written now");
    std::fs::remove_file(&folder).unwrap();
    wait_until(30, "the Field takes writes", || (register().status == 200).then_some(()));
    assert_eq!(speak().record("a", finding("at last"))["status"], "accepted");
    assert_eq!(server.client().get("/readyz").status, 200);
}
