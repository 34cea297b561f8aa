//! Actors that speak the protocol: a connection with a key and a version, and requests that are mostly right.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::{Value, json};

use super::{bearer, refusal};
use crate::support::{Client, Reply, TestServer};

/// Somebody with a key.
pub(crate) struct Actor(pub(crate) Client);

impl Actor {
    /// Whoever may do everything.
    pub(crate) fn operator(server: &TestServer) -> Self {
        Self(bearer(server, &server.key(10)))
    }

    /// An agent with a key of its own.
    pub(crate) fn agent(server: &TestServer, name: &str, authority: u8) -> Self {
        let key = server.key_for(KeyAgent::Named(name.to_owned()), authority, None);
        Self(bearer(server, &key))
    }

    /// Who speaks under a name through a key for any agent.
    pub(crate) fn of_any(server: &TestServer, key: &str, name: &str) -> Self {
        Self(bearer(server, key).with("akashik-agent", name))
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.0.get(path)
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &Value) -> Reply {
        self.0.send(method, path, &[], Some(body.to_string().as_bytes()))
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, body)
    }

    /// Posts under an idempotency key.
    pub(crate) fn post_once(&mut self, key: &str, path: &str, body: &Value) -> Reply {
        let body = body.to_string();
        self.0.send("POST", path, &[("idempotency-key", key)], Some(body.as_bytes()))
    }

    /// What is read at a path.
    pub(crate) fn read(&mut self, path: &str) -> Value {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    /// What was made.
    pub(crate) fn made(&mut self, path: &str, body: &Value) -> Value {
        let reply = self.post(path, body);
        assert_eq!(reply.status, 201, "{path}: {}", reply.text());
        reply.json()
    }

    /// What a write came to that makes nothing.
    pub(crate) fn done(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let reply = self.send(method, path, body);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    /// The status, the code and the parameter of a refusal.
    pub(crate) fn refused(
        &mut self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> (u16, String, String) {
        let reply = self.send(method, path, body);
        let (status, code) = refusal(&reply);
        let param = reply.json()["error"]["param"].as_str().unwrap_or_default().to_owned();
        (status, code, param)
    }

    /// A Session in the built-in Workspace.
    pub(crate) fn session(&mut self) -> String {
        id(&self.made("/v1/sessions", &json!({"workspace_id": "workspace_default"})))
    }

    /// Says a text in a Session.
    pub(crate) fn say(&mut self, session: &str, text: &str) -> Value {
        self.made(&format!("/v1/sessions/{session}/messages"), &json!({"message": user(text)}))
    }

    /// The texts of a transcript.
    pub(crate) fn texts(&mut self, session: &str) -> Vec<String> {
        let list = self.read(&format!("/v1/sessions/{session}/messages"));
        let said = list["data"].as_array().unwrap().iter();
        said.map(|message| message["parts"][0]["text"].as_str().unwrap_or("…").to_owned()).collect()
    }

    /// The kinds of the Events at a path.
    pub(crate) fn kinds(&mut self, path: &str) -> Vec<String> {
        let list = self.read(path);
        let events = list["data"].as_array().unwrap().iter();
        events.map(|event| event["event"].as_str().unwrap().to_owned()).collect()
    }
}

/// A Message of a user.
pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"type": "text", "text": text, "visibility": "public"}]})
}

/// The id of a resource.
pub(crate) fn id(resource: &Value) -> String {
    resource["id"].as_str().unwrap().to_owned()
}

/// The ids of a list.
pub(crate) fn ids(list: &Value) -> Vec<String> {
    list["data"].as_array().unwrap().iter().map(id).collect()
}
