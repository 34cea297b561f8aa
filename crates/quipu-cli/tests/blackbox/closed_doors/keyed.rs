//! A server with keys of chosen authority, and what callers with such keys do to it.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Answer, Client, Server, Settings, finding, quipu};

/// A server over a directory, and the agents that have keys to it.
#[derive(Debug)]
pub(super) struct Keyed {
    pub(super) server: Server,
    pub(super) data: TempDir,
    keys: Vec<(String, String)>,
}

impl Keyed {
    /// Starts a server with one key for each agent and authority. The agent `*` is any.
    pub(super) fn start(agents: &[(&str, u8)]) -> Self {
        let data = TempDir::new().unwrap();
        let path = data.path().to_str().unwrap();
        let key = |(agent, authority): &(&str, u8)| {
            let authority = authority.to_string();
            let create = ["key", "create", "--data", path, "--agent", agent];
            let made = quipu([&create[..], &["--authority", &authority]].concat()).succeeded();
            ((*agent).to_owned(), made.stdout.lines().last().unwrap().to_owned())
        };
        let keys = agents.iter().map(key).collect();
        let server = Settings::new(data.path()).start();
        Self { server, data, keys }
    }

    /// The same after the server stopped and started again.
    pub(super) fn again(self) -> Self {
        let Self { server, data, keys } = self;
        server.stop();
        let server = Settings::new(data.path()).start();
        Self { server, data, keys }
    }

    /// A client that speaks with the key of an agent.
    pub(super) fn with_key_of(&self, agent: &str) -> Client {
        let key = self.keys.iter().find(|(name, _)| name == agent).map(|(_, key)| key);
        self.server.client().with_key(key.unwrap_or_else(|| panic!("{agent} has no key")))
    }

    /// An agent with a key of its own, registered.
    pub(super) fn agent(&self, name: &'static str) -> Agent {
        let mut agent = Agent { name, client: self.with_key_of(name) };
        agent.client.register(name, "tester");
        agent
    }
}

/// An agent and how it is heard.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) name: &'static str,
    pub(super) client: Client,
}

impl Agent {
    /// The same by another key.
    pub(super) fn by(name: &'static str, client: Client) -> Self {
        Self { name, client }
    }

    pub(super) fn operate(&mut self, operation: &str, payload: Value) -> Answer {
        self.client.operate(operation, self.name, payload)
    }

    /// Records; gives the unit's id.
    pub(super) fn records(&mut self, payload: Value) -> String {
        let answer = self.client.record(self.name, payload);
        answer["memory_unit_id"].as_str().unwrap().to_owned()
    }

    /// Posts the bare payload of what is ours.
    pub(super) fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.client.post(path, body.to_string())
    }

    pub(super) fn unit(&mut self, id: &str) -> Value {
        self.client.get(&format!("/v1/units/{id}")).ok()
    }

    pub(super) fn status(&mut self, id: &str) -> String {
        self.unit(id)["status"].as_str().unwrap().to_owned()
    }
}

/// A unit of some type that replaces others.
pub(super) fn replacing(kind: &str, content: &str, targets: &[String]) -> Value {
    let mut unit = of_type(kind, content);
    let links = targets.iter().map(|id| json!({"type": "supersedes", "target_id": id}));
    unit["relations"] = links.collect();
    unit
}

/// A unit of some type.
pub(super) fn of_type(kind: &str, content: &str) -> Value {
    let mut unit = finding(content);
    unit["type"] = kind.into();
    unit
}

/// Why something is done.
pub(super) fn because(purpose: &str) -> Value {
    json!({"purpose": purpose})
}
