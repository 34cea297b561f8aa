//! A server with a key for each of a few agents, who speak both protocols.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    keys::start_with_key,
    support::{Client, Server, quipu},
};

const VERSION: &str = "agents-protocol-2026-04-25";

/// A running server and what made it.
pub(super) struct Team {
    data: TempDir,
    server: Server,
    operator: String,
}

impl Team {
    pub(super) fn start() -> Self {
        let data = TempDir::new().unwrap();
        let (server, operator) = start_with_key(data.path());
        let team = Self { data, server, operator };
        // A Field is brought into being by who may.
        team.operator().register("operator", "operator");
        team
    }

    /// What `quipu key` prints.
    pub(super) fn keys(&self, arguments: &[&str]) -> String {
        let data = self.data.path().to_str().unwrap();
        let (verb, rest) = arguments.split_first().unwrap();
        quipu([&["key", verb, "--data", data], rest].concat()).succeeded().stdout
    }

    /// A key of one agent.
    pub(super) fn key(&self, agent: &str, authority: &str, more: &[&str]) -> String {
        let create = ["create", "--agent", agent, "--authority", authority];
        let printed = self.keys(&[&create, more].concat());
        printed.trim_end().lines().last().unwrap().to_owned()
    }

    /// A client of both protocols with a key of its own.
    pub(super) fn client(&self, agent: &str, authority: &str, more: &[&str]) -> Client {
        self.with_key(&self.key(agent, authority, more))
    }

    pub(super) fn with_key(&self, key: &str) -> Client {
        let client = self.server.client().with_key(key);
        client.with_header("Harn-Agents-Protocol-Version", VERSION)
    }

    pub(super) fn operator(&self) -> Client {
        self.with_key(&self.operator)
    }
}

/// Posts JSON; the status and what was said.
pub(super) fn post(client: &mut Client, path: &str, body: &Value) -> (u16, Value) {
    let answer = client.post(path, body.to_string());
    (answer.status, answer.json())
}

/// Reads; the status and what was said.
pub(super) fn get(client: &mut Client, path: &str) -> (u16, Value) {
    let answer = client.get(path);
    (answer.status, answer.json())
}

/// A Message of the Harn protocol.
pub(super) fn said(text: &str) -> Value {
    let part = json!({"type": "text", "text": text, "visibility": "public"});
    json!({"message": {"role": "user", "parts": [part]}})
}
