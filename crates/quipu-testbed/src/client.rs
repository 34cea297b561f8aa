//! Speaks Akashik over a connection: envelopes in, answers out.

use std::{
    io,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};

use crate::http::{Answer, Connection};

static MESSAGES: AtomicU64 = AtomicU64::new(1);

/// An envelope in the making.
#[derive(Debug, Clone)]
pub struct Message {
    /// The envelope as it is sent.
    pub envelope: Value,
}

impl Message {
    /// A message with an id of its own, sent at epoch 0.
    #[must_use]
    pub fn new(operation: &str, agent: &str, payload: Value) -> Self {
        let number = MESSAGES.fetch_add(1, Ordering::Relaxed);
        let mut envelope = json!({
            "protocol": "akashik", "version": "0.1.0", "id": format!("msg-{number:06}"),
            "operation": operation, "agent_id": agent, "session_id": null, "epoch": 0,
        });
        envelope["payload"] = payload;
        Self { envelope }
    }

    /// Sets a member of the envelope.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
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
pub struct Client {
    connection: Connection,
    headers: Vec<(String, String)>,
}

impl Client {
    /// Opens the connection.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Ok(Self { connection: Connection::open(address)?, headers })
    }

    /// Sends a header with every request.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Presents a key with every request.
    #[must_use]
    pub fn with_key(self, key: &str) -> Self {
        self.with_header("authorization", &format!("Bearer {key}"))
    }

    /// Sends a request; fails where the connection does.
    pub fn try_request(&mut self, method: &str, path: &str, body: &[u8]) -> io::Result<Answer> {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.connection.request(method, path, &headers, body)
    }

    /// Sends an envelope; fails where the connection does.
    pub fn try_send(&mut self, message: &Message) -> io::Result<Answer> {
        self.try_request("POST", &message.path(), message.envelope.to_string().as_bytes())
    }

    /// Sends an envelope.
    #[track_caller]
    pub fn send(&mut self, message: &Message) -> Answer {
        self.try_send(message).expect("the connection holds")
    }

    /// Posts bytes as they are.
    #[track_caller]
    pub fn post(&mut self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.try_request("POST", path, body.as_ref()).expect("the connection holds")
    }

    /// Reads a path.
    #[track_caller]
    pub fn get(&mut self, path: &str) -> Answer {
        self.try_request("GET", path, b"").expect("the connection holds")
    }

    /// Sends an operation under a new message id.
    #[track_caller]
    pub fn operate(&mut self, operation: &str, agent: &str, payload: Value) -> Answer {
        self.send(&Message::new(operation, agent, payload))
    }

    /// Registers an agent, which must succeed.
    #[track_caller]
    pub fn register(&mut self, agent: &str, role: &str) -> Value {
        self.operate("REGISTER", agent, json!({"id": agent, "role": role})).ok()
    }

    /// Records, which must succeed.
    #[track_caller]
    pub fn record(&mut self, agent: &str, payload: Value) -> Value {
        self.operate("RECORD", agent, payload).ok()
    }

    /// Attunes, which must succeed.
    #[track_caller]
    pub fn attune(&mut self, agent: &str, scope: Value) -> Value {
        let mut payload = json!({});
        payload["scope"] = scope;
        self.operate("ATTUNE", agent, payload).ok()
    }
}
