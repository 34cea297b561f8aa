//! Messages that are too large, too many, or no messages.

use std::num::NonZeroU32;

use serde_json::{Value, json};

use super::{Mcp, VERSION_NEW, VERSION_OLD, finding};
use crate::support::{Setup, TestServer};

const MIB: usize = 1024 * 1024;

fn of_size(bytes: usize) -> Value {
    let mut unit = finding();
    unit["content"] = json!("x".repeat(bytes));
    unit
}

#[test]
fn a_text_of_a_megabyte_is_recorded_and_a_longer_one_is_refused_by_name() {
    let server = TestServer::start();
    for version in [VERSION_OLD, VERSION_NEW] {
        let mut mcp = Mcp::begin(&server, &server.key(4), version);
        assert_eq!(mcp.call("akashik_record", of_size(MIB))["isError"], false);
        let refused = mcp.call("akashik_record", of_size(MIB + 1));
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("INVALID_PAYLOAD: content: "), "{text}");
    }
}

#[test]
fn a_message_above_the_limit_of_bodies_is_refused_and_the_client_goes_on() {
    let server = TestServer::start();
    let mut mcp = Mcp::begin(&server, &server.key(4), VERSION_NEW);
    let (reply, error) = mcp.post(&[], of_size(4 * MIB).to_string().as_bytes());
    assert_eq!((reply.status, error["code"].as_str()), (413, Some("PAYLOAD_TOO_LARGE")));
    assert_eq!(mcp.call("akashik_record", finding())["isError"], false);
}

#[test]
fn what_is_no_message_is_an_error_of_json_rpc() {
    let server = TestServer::dev();
    let mut mcp = Mcp::begin(&server, "", VERSION_OLD);
    let session = mcp.session.clone().unwrap();
    let headers = [("mcp-session-id", session.as_str())];
    for (body, code) in [("{", -32700), ("[]", -32600), ("7", -32600), ("{}", -32600)] {
        let (reply, error) = mcp.post(&headers, body.as_bytes());
        assert_eq!((reply.status, &error["error"]["code"]), (400, &json!(code)), "{body}");
    }
    for (method, params, code) in [
        ("tools/call", json!({"name": "akashik_forget", "arguments": {}}), -32602),
        ("tools/call", json!({"name": "akashik_record", "arguments": "text"}), -32602),
        ("tools/call", json!({"arguments": {}}), -32602),
        ("weather/today", json!({}), -32601),
    ] {
        let error = mcp.ask(method, params);
        assert_eq!(error["error"]["code"], code, "{error}");
    }
}

#[test]
fn a_flood_is_throttled_at_the_door() {
    let server =
        TestServer::with(Setup { requests_per_second: NonZeroU32::new(1), ..Setup::default() });
    let mut mcp = Mcp::over(server.client().with_key(&server.key(4)), VERSION_NEW);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut statuses = (0..20).map(|_| mcp.send(&ping).0.status);
    assert!(statuses.any(|status| status == 429));
}
