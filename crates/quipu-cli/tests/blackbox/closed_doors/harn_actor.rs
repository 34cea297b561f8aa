//! Actors of the Harn Agents Protocol with keys of their own, and the module that the tests let run.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    keys::start_with_key,
    support::{Client, Server, wait_until},
};

const VERSION: &str = "agents-protocol-2026-04-25";

/// A server that asks for keys, and its operator.
pub(super) struct World {
    pub(super) data: TempDir,
    pub(super) server: Server,
    pub(super) operator: Actor,
}

/// Somebody with a key.
pub(super) struct Actor(Client);

impl World {
    pub(super) fn new() -> Self {
        let data = TempDir::new().unwrap();
        let (server, key) = start_with_key(data.path());
        let operator = Actor::of(&server, &key);
        Self { data, server, operator }
    }

    /// An agent with a key that is bound to it.
    pub(super) fn agent(&mut self, name: &str, authority: u8) -> Actor {
        let made =
            self.operator.done("POST", "/v1/keys", &json!({"agent": name, "authority": authority}));
        Actor::of(&self.server, made["secret"].as_str().unwrap())
    }
}

impl Actor {
    fn of(server: &Server, key: &str) -> Self {
        let client = server.client().with_key(key);
        Self(client.with_header("Harn-Agents-Protocol-Version", VERSION))
    }

    /// What bytes come to: the status and the body.
    pub(super) fn send(&mut self, method: &str, path: &str, bytes: &[u8]) -> (u16, String) {
        let answer = self.0.try_request(method, path, bytes).unwrap();
        (answer.status, answer.text())
    }

    pub(super) fn call(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (status, text) = self.send(method, path, &bytes);
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    #[track_caller]
    pub(super) fn done(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call(method, path, body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    #[track_caller]
    pub(super) fn made(&mut self, path: &str, body: &Value) -> String {
        text(&self.done("POST", path, body)["id"])
    }

    #[track_caller]
    pub(super) fn read(&mut self, path: &str) -> Value {
        self.done("GET", path, &Value::Null)
    }

    /// The error of what is refused with this status.
    #[track_caller]
    pub(super) fn refused(&mut self, method: &str, path: &str, body: &Value, status: u16) -> Value {
        let (given, answer) = self.call(method, path, body);
        assert_eq!(given, status, "{method} {path}: {answer}");
        answer["error"].clone()
    }

    /// The Task once it stands in one of these.
    #[track_caller]
    pub(super) fn until(&mut self, task: &str, states: &[&str]) -> Value {
        wait_until(60, "the Task gets there", || {
            let task = self.read(&format!("/v1/tasks/{task}"));
            states.contains(&task["status"].as_str().unwrap()).then_some(task)
        })
    }

    /// The Task once it has ended.
    #[track_caller]
    pub(super) fn ended(&mut self, task: &str) -> Value {
        self.until(task, &["COMPLETED", "FAILED", "CANCELED"])
    }

    /// What the module of a Task returned.
    #[track_caller]
    pub(super) fn output(&mut self, task: &str) -> Value {
        let ended = self.ended(task);
        assert_eq!(ended["status"], "COMPLETED", "{ended}");
        let outcome = text(&ended["outcome_id"]);
        self.read(&format!("/v1/outcomes/{outcome}"))["metadata"]["output"].clone()
    }

    /// The receipt of a Task that has ended.
    #[track_caller]
    pub(super) fn receipt(&mut self, task: &str) -> Value {
        let list = self.read(&format!("/v1/tasks/{task}/receipts"));
        list["data"][0]["wire"]["payload"].clone()
    }

    #[track_caller]
    pub(super) fn events(&mut self, task: &str) -> Vec<Value> {
        let list = self.read(&format!("/v1/tasks/{task}/events?limit=200"));
        list["data"].as_array().unwrap().clone()
    }

    /// An Artifact with these bytes.
    #[track_caller]
    pub(super) fn artifact(&mut self, body: &Value, bytes: &[u8]) -> String {
        let id = self.made("/v1/artifacts", body);
        let (status, answer) = self.send("PUT", &format!("/v1/artifacts/{id}/content"), bytes);
        assert_eq!(status, 200, "{answer}");
        id
    }

    /// A Persona that runs this module, with more in its metadata.
    #[track_caller]
    pub(super) fn module(&mut self, source: &str, capabilities: &[&str], more: &Value) -> String {
        let body = json!({"kind": "file", "mime_type": "text/x-harn", "visibility": "internal"});
        let artifact = self.artifact(&body, source.as_bytes());
        let mut metadata = json!({"module_artifact_id": artifact, "capabilities": capabilities});
        for (name, value) in more.as_object().into_iter().flatten() {
            metadata[name] = value.clone();
        }
        let mut body = persona("act_auto");
        body["module_ref"] = json!("harn://acme/review@1");
        body["metadata"] = metadata;
        self.made("/v1/personas", &body)
    }

    /// A vault with one secret.
    #[track_caller]
    pub(super) fn vault(&mut self, name: &str, value: &str) -> String {
        let vault = self.made("/v1/vaults", &json!({"provider": "quipu", "capabilities": []}));
        self.done("PUT", &format!("/v1/vaults/{vault}/secrets/{name}"), &json!({"value": value}));
        vault
    }

    #[track_caller]
    pub(super) fn submit(&mut self, persona: &str) -> String {
        let body = json!({"session_id": "session_default", "persona_id": persona, "input": "go"});
        self.made("/v1/tasks", &body)
    }
}

/// A Persona of this autonomy.
pub(super) fn persona(autonomy: &str) -> Value {
    json!({"name": "reviewer", "version": "1", "entry_workflow": "review",
           "description": "reviews plans", "autonomy_tier": autonomy, "receipt_policy": "required"})
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}
