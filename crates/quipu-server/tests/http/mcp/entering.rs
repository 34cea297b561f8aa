//! Who is let in: keys, hosts and origins, and whose a session is.

use serde_json::json;

use super::{Mcp, VERSION_NEW, VERSION_OLD};
use crate::support::{TestServer, wait_until};

#[test]
fn without_a_key_nobody_comes_in() {
    let server = TestServer::start();
    for version in [VERSION_OLD, VERSION_NEW] {
        let (reply, error) = Mcp::over(server.client(), version).initialize();
        assert_eq!((reply.status, error["code"].as_str()), (401, Some("UNAUTHENTICATED")));
        assert!(reply.header("www-authenticate").is_some());
    }
}

#[test]
fn a_page_that_leads_its_own_name_here_is_turned_away() {
    let server = TestServer::dev();
    let ask = |host: &str, origin: Option<&str>| {
        let mut headers = vec![("host", host), ("accept", "application/json, text/event-stream")];
        headers.extend(origin.map(|origin| ("origin", origin)));
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": VERSION_OLD, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
        server.client().post_raw("/mcp", &headers, message.to_string().as_bytes()).status
    };
    assert_eq!(ask("localhost", None), 200);
    assert_eq!(ask("127.0.0.1:7070", Some("http://localhost:7070")), 200);
    assert_eq!(ask("127.0.0.1:7070", Some("http://localhost:6274")), 403, "another port");
    assert_eq!(ask("evil.example", None), 403);
    assert_eq!(ask("localhost", Some("https://evil.example")), 403);
}

#[test]
fn a_session_cannot_be_used_with_another_key() {
    let server = TestServer::start();
    let mine = Mcp::begin(&server, &server.key(4), VERSION_OLD);
    let mut theirs = Mcp::over(server.client().with_key(&server.key(4)), VERSION_OLD);
    theirs.session = mine.session.clone();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(theirs.send(&list).0.status, 404);
    theirs.session = Some("nobody's".to_owned());
    assert_eq!(theirs.send(&list).0.status, 404);
}

#[test]
fn a_session_that_was_ended_is_gone() {
    let server = TestServer::start();
    let mut mcp = Mcp::begin(&server, &server.key(4), VERSION_OLD);
    let session = mcp.session.clone().unwrap();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", VERSION_OLD)];
    assert_eq!(mcp.http.send("DELETE", "/mcp", &headers, None).status, 202);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(mcp.send(&list).0.status, 404);
}

#[test]
fn a_key_that_was_revoked_is_refused_in_its_own_session() {
    let server = TestServer::start();
    let secret = server.key(4);
    let mut mcp = Mcp::begin(&server, &secret, VERSION_OLD);
    let id = server.keys.list().unwrap().into_iter().next().unwrap().id;
    assert!(server.keys.revoke(&id).unwrap());
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    wait_until("the key is refused", || mcp.send(&list).0.status == 401);
}
