//! One agent's way through the protocol, as the tests of replay go it.

use std::{path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Client, Server, wait_until};

const VERSION: &str = "agents-protocol-2026-04-25";

/// A client of the Harn protocol.
pub(super) struct Harn(Client);

/// What is recorded under each key.
pub(super) const ANSWERS: [(&str, &str); 6] = [
    ("time:started_at", "time"),
    ("llm:main:1", "llm_provider_response"),
    ("mcp:crm:lookup-1", "mcp_tool_return"),
    ("secret:api_token", "secret_value"),
    ("llm:main:2", "llm_provider_response"),
    ("host:nothing:1", "host_dependency"),
];

pub(super) const SECRET: &str = "tok-canary-0001";

pub(super) fn answer(key: &str) -> Value {
    match key {
        "time:started_at" => json!("2026-04-25T10:00:00Z"),
        "llm:main:1" => {
            json!({"content": "49 dollars", "odd": [1e21, 0.1, -0.5], "é": "\u{1f4dc}"})
        }
        "mcp:crm:lookup-1" => json!({"tier": "gold"}),
        "secret:api_token" => json!(SECRET),
        // Nothing is an answer too.
        "host:nothing:1" => Value::Null,
        _ => json!({"content": "ship it"}),
    }
}

impl Harn {
    pub(super) fn of(server: &Server) -> Self {
        Self(server.client().with_header("Harn-Agents-Protocol-Version", VERSION))
    }

    pub(super) fn call(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let answer = self.0.try_request(method, path, &body).unwrap();
        (answer.status, answer.json())
    }

    pub(super) fn post(&mut self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call("POST", path, body);
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    pub(super) fn get(&mut self, path: &str) -> Value {
        let (status, answer) = self.call("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Records a run in a Session of its own; its Task and its checkpoint.
    pub(super) fn record(&mut self) -> (String, String) {
        let workspace = self.post("/v1/workspaces", &json!({"name": "w", "root": "x://w"}));
        let session = self.post("/v1/sessions", &json!({"workspace_id": workspace["id"]}));
        let persona = self.post("/v1/personas", &json!({
            "name": "pricer", "version": "1", "entry_workflow": "external",
            "description": "prices deals", "autonomy_tier": "act_auto", "receipt_policy": "required"}));
        let body =
            json!({"session_id": session["id"], "persona_id": persona["id"], "input": "price it"});
        let task = text(&self.post("/v1/tasks", &body)["id"]);
        self.post(&format!("/v1/tasks/{task}/claim"), &json!({"agent_id": "pricer-1"}));
        let mut checkpoint = String::new();
        for (key, kind) in ANSWERS {
            let body =
                json!({"key": key, "kind": kind, "value": answer(key), "request": {"ask": key}});
            self.post(&format!("/v1/tasks/{task}/dependencies"), &body);
            if key == "mcp:crm:lookup-1" {
                let made = json!({"label": "after-crm", "state": {"step": 3}});
                checkpoint =
                    text(&self.post(&format!("/v1/tasks/{task}/checkpoints"), &made)["id"]);
            }
        }
        let done = json!({"summary": "priced at 49", "output": {"price": 49}});
        let done = self.post(&format!("/v1/tasks/{task}/complete"), &done);
        assert_eq!(done["status"], "COMPLETED");
        (task, checkpoint)
    }

    /// Replays and waits for the end.
    pub(super) fn replay(&mut self, task: &str, body: &Value) -> Value {
        let (status, replay) = self.call("POST", &format!("/v1/tasks/{task}/replay"), body);
        assert_eq!(status, 202, "{replay}");
        assert_eq!(replay["parent_task_id"], task);
        self.settled(replay["id"].as_str().unwrap())
    }

    pub(super) fn settled(&mut self, task: &str) -> Value {
        wait_until(30, "the replay ends", || {
            let task = self.get(&format!("/v1/tasks/{task}"));
            let ended = ["COMPLETED", "FAILED", "CANCELED"];
            ended.contains(&task["status"].as_str().unwrap()).then_some(task)
        })
    }

    pub(super) fn receipt(&mut self, task: &str) -> Value {
        let list = self.get(&format!("/v1/tasks/{task}/receipts"));
        let receipts = list["data"].as_array().unwrap();
        assert_eq!(receipts.len(), 1, "{list}");
        receipts[0]["wire"]["payload"].clone()
    }

    pub(super) fn events(&mut self, task: &str) -> Vec<Value> {
        let list = self.get(&format!("/v1/tasks/{task}/events?limit=200"));
        list["data"].as_array().unwrap().clone()
    }
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

/// Checks the hashes of receipts with Python's standard library alone.
pub(super) fn check_with_python(receipts: &[&Value]) {
    let folder = TempDir::new().unwrap();
    let files: Vec<_> = (0..)
        .zip(receipts)
        .map(|(number, receipt)| {
            let path = folder.path().join(format!("{number}.json"));
            std::fs::write(&path, receipt.to_string()).unwrap();
            path
        })
        .collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/blackbox/receipt_check.py");
    let output = Command::new("python3").arg(script).args(&files).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}");
}
