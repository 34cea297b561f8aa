//! A run of probes against a server with real keys, as the protocol's own suite makes one: a caller, what it
//! sends, and what every answer of a kind must have.

use serde_json::{Value, json};

use super::{OCTOBER, VERSION, refusal};
use crate::support::{Client, Events, Reply, TestServer, wait_until};

/// The statuses of a Task, each with those that may follow it.
const LEGAL: [(&str, &[&str]); 7] = [
    ("SUBMITTED", &["WORKING", "CANCELED", "FAILED"]),
    ("WORKING", &["INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED"]),
    ("INPUT_REQUIRED", &["WORKING", "FAILED", "CANCELED"]),
    ("AUTH_REQUIRED", &["WORKING", "FAILED", "CANCELED"]),
    ("COMPLETED", &[]),
    ("FAILED", &[]),
    ("CANCELED", &[]),
];

/// A caller of one server.
pub(crate) struct Run {
    pub(crate) server: TestServer,
    pub(crate) key: String,
    pub(crate) client: Client,
    /// The Session that Tasks are submitted to.
    pub(crate) session: String,
}

impl Run {
    pub(crate) fn start() -> Self {
        let server = TestServer::start();
        let key = server.key(10);
        let client = server.client().with(VERSION, OCTOBER).with_key(&key);
        Self { server, key, client, session: "session_default".to_owned() }
    }

    /// Reads a resource that must be there.
    pub(crate) fn get(&mut self, path: &str) -> Value {
        let reply = self.client.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    /// Reads a list that must have its shape, and gives its entries.
    pub(crate) fn list(&mut self, path: &str) -> Vec<Value> {
        let list = self.get(path);
        assert_eq!(list["object"], "list", "{path}: {list}");
        assert_eq!(list["page"]["has_more"], list["has_more"], "{list}");
        assert_eq!(list["page"]["next_cursor"], list["next_cursor"], "{list}");
        list["data"].as_array().unwrap_or_else(|| panic!("{path}: {list}")).clone()
    }

    /// Submits a Task under a key.
    pub(crate) fn submit(&mut self, key: &str, text: &str) -> Reply {
        let body = json!({"input": {
            "role": "user", "parts": [{"type": "text", "text": text, "visibility": "public"}],
        }});
        let path = format!("/v1/sessions/{}/tasks", self.session);
        self.client.post_raw(&path, &[("idempotency-key", key)], body.to_string().as_bytes())
    }

    /// Submits a Task that must be taken, and gives it.
    pub(crate) fn task(&mut self, key: &str) -> Value {
        let reply = self.submit(key, "What is known about cargo bikes?");
        assert!([200, 201, 202].contains(&reply.status), "{}", reply.text());
        let task = check_resource(&reply.json(), "task");
        legal_after(task["status"].as_str().unwrap());
        task
    }

    /// Asks for a Task until it has ended; gives every status that was seen, in order.
    pub(crate) fn follow(&mut self, task: &Value) -> Vec<String> {
        let path = format!("/v1/tasks/{}", task["id"].as_str().unwrap());
        let mut seen = vec![task["status"].as_str().unwrap().to_owned()];
        wait_until("the Task has ended", || {
            let status = self.get(&path)["status"].as_str().unwrap().to_owned();
            if status != seen[seen.len() - 1] {
                seen.push(status);
            }
            legal_after(&seen[seen.len() - 1]).is_empty()
        });
        seen
    }

    /// Opens a stream of events.
    pub(crate) fn stream(&self, path: &str, extra: &[(&str, &str)]) -> Events {
        let bearer = format!("Bearer {}", self.key);
        let mut headers =
            vec![(VERSION, OCTOBER), ("authorization", bearer.as_str()), ("accept", "*/*")];
        headers.extend(extra);
        let events = Events::open(self.server.address, path, &headers);
        assert_eq!(events.status, 200, "{}", events.head);
        let head = events.head.to_ascii_lowercase();
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        events
    }
}

/// The statuses that may follow one, which must be known.
pub(crate) fn legal_after(status: &str) -> &'static [&'static str] {
    let row = LEGAL.iter().find(|(from, _)| *from == status);
    row.unwrap_or_else(|| panic!("{status} is no status of a Task")).1
}

/// Checks what every resource has.
pub(crate) fn check_resource(resource: &Value, object: &str) -> Value {
    assert_eq!(resource["object"], object, "{resource}");
    for text in ["id", "created_at", "updated_at"] {
        let found = resource[text].as_str();
        assert!(found.is_some_and(|text| !text.is_empty()), "{text}: {resource}");
    }
    assert!(resource["metadata"].is_object(), "{resource}");
    resource.clone()
}

/// Checks what every Event has.
pub(crate) fn check_event(event: &Value) {
    check_resource(event, "event");
    assert!(event["event"].as_str().is_some_and(|kind| kind.contains('.')), "{event}");
    assert!(event["sequence"].is_u64(), "{event}");
    assert!(event["payload"].is_object() && event["resource"]["id"].is_string(), "{event}");
}

/// Checks a refusal's status and code.
pub(crate) fn check_refusal(reply: &Reply, status: u16, code: &str) {
    assert_eq!(refusal(reply), (status, code.to_owned()), "{}", reply.text());
}
