//! Being told over HTTP, and clients that go away.

use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::json;

use super::{Mcp, VERSION_NEW, VERSION_OLD, finding};
use crate::support::{Client, TestServer, register};

/// Records a unit as somebody else and replaces it, and gives its id.
fn record_as(server: &TestServer, agent: &str, relations: serde_json::Value) -> String {
    let mut operator = server.operator();
    operator.post("/v1/register", &register(agent));
    let mut unit = finding();
    unit["relations"] = relations;
    operator.say(agent, "/v1/record", &unit).json()["memory_unit_id"].as_str().unwrap().to_owned()
}

/// A stream that was opened, read line by line.
struct Lines(BufReader<std::net::TcpStream>);

impl Lines {
    fn open(server: &TestServer, head: &str, body: &str) -> Self {
        let mut socket = Client::socket(server.address);
        let length = body.len();
        write!(socket, "{head}content-length: {length}\r\n\r\n{body}").unwrap();
        Self(BufReader::new(socket))
    }

    fn wait_for(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream ended before {part}");
            if line.contains(part) {
                return line;
            }
        }
    }

    fn reads_to_the_end(mut self) {
        let mut line = String::new();
        while self.0.read_line(&mut line).unwrap() != 0 {}
    }
}

#[test]
fn a_client_with_a_session_is_told_on_its_stream() {
    let server = TestServer::start();
    let key = server.key(4);
    let unit = record_as(&server, "bo", json!([]));
    let mut mcp = Mcp::begin(&server, &key, VERSION_OLD);
    let session = mcp.session.clone().unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nauthorization: Bearer {key}\r\n\
         mcp-session-id: {session}\r\nmcp-protocol-version: {VERSION_OLD}\r\n"
    );
    let mut stream = Lines::open(&server, &head, "");
    stream.wait_for("200 OK");
    let uri = format!("quipu://unit/{unit}");
    let subscribed = mcp.ask("resources/subscribe", json!({"uri": uri}));
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    record_as(&server, "bo", json!([{"type": "supersedes", "target_id": unit}]));
    let told = stream.wait_for("notifications/resources/updated");
    assert!(told.contains(&uri), "{told}");
}

#[test]
fn a_client_without_one_listens_until_the_server_stops() {
    let mut server = TestServer::start();
    let key = server.key(4);
    let unit = record_as(&server, "bo", json!([]));
    let uri = format!("quipu://unit/{unit}");
    let meta = json!({"io.modelcontextprotocol/protocolVersion": VERSION_NEW,
        "io.modelcontextprotocol/clientInfo": {"name": "Listener", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": {"_meta": meta, "notifications": {"resourceSubscriptions": [uri]}}});
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\nauthorization: Bearer {key}\r\n\
         mcp-protocol-version: {VERSION_NEW}\r\nmcp-method: subscriptions/listen\r\n"
    );
    let mut stream = Lines::open(&server, &head, &listen.to_string());
    stream.wait_for("notifications/subscriptions/acknowledged");
    // The subscription is made after it is acknowledged: then the client is asked to look.
    stream.wait_for("notifications/resources/updated");
    record_as(&server, "bo", json!([{"type": "supersedes", "target_id": unit}]));
    let told = stream.wait_for("notifications/resources/updated");
    assert!(told.contains(&uri), "{told}");
    server.stop();
    stream.reads_to_the_end();
    server.join();
}

#[test]
fn what_a_client_that_went_away_had_asked_for_is_done_once() {
    let server = TestServer::dev();
    let arguments = finding();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": VERSION_NEW,
        "io.modelcontextprotocol/clientInfo": {"name": "Gone", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"_meta": meta, "name": "akashik_record", "arguments": arguments}});
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\nmcp-protocol-version: {VERSION_NEW}\r\n\
         mcp-method: tools/call\r\nmcp-name: akashik_record\r\n"
    );
    drop(Lines::open(&server, &head, &call.to_string()));
    // Whether it was read before the client was gone is open; if it was, it is there, and once.
    let mut mcp = Mcp::begin(&server, "", VERSION_NEW);
    assert_eq!(mcp.call("akashik_record", finding())["isError"], false);
    let total = server.client().get("/v1/field/status").json()["units"]["total"].as_u64().unwrap();
    assert!((1..=2).contains(&total), "{total}");
}
