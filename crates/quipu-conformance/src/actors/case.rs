//! What a case works with: the Field under test, a word that nobody else uses, and agents that it registers.

use std::{cell::Cell, collections::BTreeSet, rc::Rc, time::Duration};

use serde_json::{Value, json};

use crate::{
    actors::{
        agent::{Agent, envelope},
        check::{Checked, Failed},
        ids::token,
        json::{JsonAccess, with},
        target::{BoundKey, Target},
    },
    http::{Client, Reply},
};

/// The Field under test, as its first answer describes it.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) client: Rc<Client>,
    pub(crate) key: Option<String>,
    pub(crate) bound: Option<BoundKey>,
    pub(crate) level: u8,
    pub(crate) push_wait: Duration,
    /// An agent of full authority that clears up after each case.
    keeper: String,
    operations: BTreeSet<String>,
}

impl Field {
    /// Registers an agent to find out which operations the Field supports.
    pub(crate) fn explore(client: Rc<Client>, target: &Target) -> Self {
        let key = target.keys.as_ref().map(|keys| keys.operator.clone());
        let bound = target.keys.as_ref().and_then(|keys| keys.bound.clone());
        let keeper = format!("cf-keeper-{}", token());
        let payload = json!({"id": keeper, "role": "conformance_keeper"});
        let message = envelope("REGISTER", &keeper, None, 0, payload);
        let answer = client.post("/v1/register", key.as_deref(), &message);
        let body = answer.map_or(Value::Null, |reply| reply.body);
        let claimed = body.texts("/field_capabilities/supported_operations").unwrap_or_default();
        // Every Field must have these three. If it does not list them, their cases fail instead of being skipped.
        let always = ["REGISTER", "RECORD", "ATTUNE"].map(str::to_owned);
        let operations = claimed.into_iter().chain(always).collect();
        let (level, push_wait) = (target.level, target.push_wait);
        Self { client, key, bound, level, push_wait, keeper, operations }
    }

    /// Whether REGISTER lists the operation.
    pub(crate) fn supports(&self, operation: &str) -> bool {
        self.operations.contains(operation)
    }
}

/// One case while it runs.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) field: Rc<Field>,
    /// A word that occurs in no other text.
    pub(crate) token: String,
    agents: Vec<String>,
    texts: Cell<usize>,
}

impl Case {
    pub(crate) fn new(field: Rc<Field>) -> Self {
        Self { field, token: token(), agents: Vec::new(), texts: Cell::new(0) }
    }

    /// A name for an agent that is not registered yet.
    pub(crate) fn fresh_id(&mut self) -> String {
        let id = format!("cf-{}-{}", self.token, self.agents.len());
        self.agents.push(id.clone());
        id
    }

    /// A registered agent with this role and the authority that the key gives.
    pub(crate) fn agent(&mut self, role: &str) -> Checked<Agent> {
        self.agent_with(json!({"role": role}))
    }

    /// A registered agent that declared this authority.
    pub(crate) fn agent_of(&mut self, authority: u8) -> Checked<Agent> {
        self.agent_with(json!({"role": "analyst", "authority_level": authority}))
    }

    /// A registered agent with these keys in its REGISTER payload.
    pub(crate) fn agent_with(&mut self, payload: Value) -> Checked<Agent> {
        let agent = self.stranger();
        agent.ok("REGISTER", with(json!({"id": agent.id, "role": "analyst"}), payload))?;
        Ok(agent)
    }

    /// An agent that was never registered.
    pub(crate) fn stranger(&mut self) -> Agent {
        let id = self.fresh_id();
        Agent::new(Rc::clone(&self.field), id, self.field.key.clone())
    }

    /// A sentence with this case's word in it, different each time.
    pub(crate) fn words(&self, about: &str) -> String {
        const ORDINALS: [&str; 8] = ["ada", "bel", "cid", "dov", "eno", "fay", "gus", "hal"];
        let count = self.texts.replace(self.texts.get() + 1);
        let which = ORDINALS.get(count % ORDINALS.len()).copied().unwrap_or("ada");
        let turns = "o".repeat(count / ORDINALS.len());
        format!("{about} {}{which}{turns}", self.token)
    }

    /// Sends any text with any content type and the operator key.
    pub(crate) fn post_raw(&self, route: &str, body: &str, kind: &str) -> Checked<Reply> {
        let reply = self.field.client.post_text(route, self.field.key.as_deref(), body, kind);
        reply.map_err(|error| Failed::Wrong(format!("POST {route}: {error}")))
    }

    /// Gets a route with the operator key.
    pub(crate) fn get(&self, route: &str) -> Checked<Reply> {
        let reply = self.field.client.get(route, self.field.key.as_deref());
        reply.map_err(|error| Failed::Wrong(format!("GET {route}: {error}")))
    }

    /// Deregisters every agent of this case. Errors are ignored, because they do not belong to the case.
    pub(crate) fn leave(self) {
        if !self.field.supports("DEREGISTER") {
            return;
        }
        for agent in &self.agents {
            let payload = json!({"agent_id": agent});
            let message = envelope("DEREGISTER", &self.field.keeper, None, 0, payload);
            // The last exchange of a failure is already in its verdict.
            self.field.client.post("/v1/deregister", self.field.key.as_deref(), &message).ok();
        }
    }
}
