//! A client of MCP that writes its messages by hand.

use serde_json::{Value, json};

use crate::support::{Client, Reply, TestServer, committed};

pub(super) const VERSION_OLD: &str = "2025-11-25";
pub(crate) const VERSION_NEW: &str = "2026-07-28";

/// A client, with its session if its generation has them.
pub(crate) struct Mcp {
    pub(super) http: Client,
    pub(super) session: Option<String>,
    version: &'static str,
}

impl Mcp {
    /// A client that begins as its generation does.
    pub(super) fn begin(server: &TestServer, key: &str, version: &'static str) -> Self {
        let mut mcp = Self::over(server.client().with_key(key), version);
        if version == VERSION_OLD {
            let (reply, answer) = mcp.initialize();
            assert_eq!(
                (reply.status, &answer["result"]["protocolVersion"]),
                (200, &json!(version))
            );
            mcp.session = reply.header("mcp-session-id").map(str::to_owned);
            assert!(mcp.session.is_some());
            let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            assert_eq!(mcp.send(&note).0.status, 202);
        }
        mcp
    }

    pub(crate) fn over(http: Client, version: &'static str) -> Self {
        let accept = "application/json, text/event-stream";
        let http = http.with("host", "localhost").with("accept", accept);
        Self { http, session: None, version }
    }

    pub(super) fn initialize(&mut self) -> (Reply, Value) {
        let params = json!({"protocolVersion": self.version, "capabilities": {},
                            "clientInfo": {"name": "Raw Client", "version": "1"}});
        self.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
    }

    /// Sends a request, and gives the response's result or error.
    pub(super) fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.version == VERSION_NEW {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": {"name": "Raw Client", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}});
        }
        let (reply, answer) =
            self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        assert!(!answer.is_null(), "{}: {}", reply.status, reply.text());
        answer
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        self.ask("tools/call", params)["result"].take()
    }

    /// Sends a message as it is.
    pub(super) fn send(&mut self, message: &Value) -> (Reply, Value) {
        let mut extra = vec![("mcp-protocol-version", self.version)];
        let session = self.session.clone();
        if let Some(session) = &session {
            extra.push(("mcp-session-id", session));
        }
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let name = message["params"]["name"].as_str();
        let name = name.or_else(|| message["params"]["uri"].as_str());
        let name = name.unwrap_or_default().to_owned();
        if self.version == VERSION_NEW {
            extra.push(("mcp-method", &method));
            if !name.is_empty() {
                extra.push(("mcp-name", &name));
            }
        }
        self.post(&extra, message.to_string().as_bytes())
    }

    pub(super) fn post(&mut self, extra: &[(&str, &str)], body: &[u8]) -> (Reply, Value) {
        let mut reply = self.http.post_raw("/mcp", extra, body);
        if reply.header("transfer-encoding") != Some("chunked") {
            let json = serde_json::from_slice(&reply.body).unwrap_or_default();
            return (reply, json);
        }
        reply.body = self.http.chunks();
        let text = reply.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let answer = data.filter_map(|data| serde_json::from_str(data).ok()).next_back();
        (reply, answer.unwrap_or_default())
    }
}

/// The arguments of a RECORD that is right.
pub(super) fn finding() -> Value {
    committed("The harbour raised its fees.")
}
