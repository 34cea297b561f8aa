//! Speaks Akashik over a connection: envelopes in, answers out.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::http::{Answer, Connection};

static MESSAGES: AtomicU64 = AtomicU64::new(1);

/// An envelope in the making.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) envelope: Value,
}

impl Message {
    /// A message with an id of its own, sent at epoch 0.
    pub(crate) fn new(operation: &str, agent: &str, payload: Value) -> Self {
        let number = MESSAGES.fetch_add(1, Ordering::Relaxed);
        let mut envelope = json!({
            "protocol": "akashik", "version": "0.1.0", "id": format!("msg-{number:06}"),
            "operation": operation, "agent_id": agent, "session_id": null, "epoch": 0,
        });
        envelope["payload"] = payload;
        Self { envelope }
    }

    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.envelope[key] = value.into();
        self
    }

    fn path(&self) -> String {
        let operation = self.envelope["operation"].as_str().unwrap_or("record");
        format!("/v1/{}", operation.to_lowercase())
    }
}

/// A client with one connection and perhaps a key.
#[derive(Debug)]
pub(crate) struct Client {
    connection: Connection,
    headers: Vec<(String, String)>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Ok(Self { connection: Connection::open(address)?, headers })
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn with_key(self, key: &str) -> Self {
        self.with_header("authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn try_request(
        &mut self,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> io::Result<Answer> {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.connection.request(method, path, &headers, body)
    }

    pub(crate) fn try_send(&mut self, message: &Message) -> io::Result<Answer> {
        self.try_request("POST", &message.path(), message.envelope.to_string().as_bytes())
    }

    pub(crate) fn send(&mut self, message: &Message) -> Answer {
        self.try_send(message).unwrap()
    }

    /// Posts bytes as they are.
    pub(crate) fn post(&mut self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.try_request("POST", path, body.as_ref()).unwrap()
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.try_request("GET", path, b"").unwrap()
    }

    pub(crate) fn operate(&mut self, operation: &str, agent: &str, payload: Value) -> Answer {
        self.send(&Message::new(operation, agent, payload))
    }

    pub(crate) fn register(&mut self, agent: &str, role: &str) -> Value {
        self.operate("REGISTER", agent, json!({"id": agent, "role": role})).ok()
    }

    pub(crate) fn record(&mut self, agent: &str, payload: Value) -> Value {
        self.operate("RECORD", agent, payload).ok()
    }

    pub(crate) fn attune(&mut self, agent: &str, scope: Value) -> Value {
        let mut payload = json!({});
        payload["scope"] = scope;
        self.operate("ATTUNE", agent, payload).ok()
    }
}
