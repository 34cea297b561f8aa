//! Sessions with members, for the cases about visibility.

use serde_json::{Value, json};

use crate::actors::{
    agent::Agent,
    case::Case,
    check::Checked,
    ids::token,
    json::{JsonAccess, with},
};

/// A session and the agent that created it.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) id: String,
    /// The creator, sending its messages inside the session.
    pub(crate) creator: Agent,
}

impl Case {
    /// A new session. If the Field does not support SESSION, it is only a name.
    pub(crate) fn room(&mut self) -> Checked<Room> {
        let creator = self.agent("session_creator")?;
        self.room_of(&creator)
    }

    /// A fresh session of this creator.
    pub(crate) fn room_of(&mut self, creator: &Agent) -> Checked<Room> {
        let id = if self.field.supports("SESSION") {
            let goal = self.words("Agree on what the protocol says");
            let answer =
                creator.ok("SESSION", json!({"action": "create", "session": {"goal": goal}}))?;
            answer.text("/session/id")?.to_owned()
        } else {
            format!("cf-session-{}", token())
        };
        Ok(Room { creator: creator.within(&id), id })
    }
}

impl Room {
    /// Lets an agent join. Returns the agent sending its messages inside the session.
    pub(crate) fn joined(&self, agent: &Agent) -> Checked<Agent> {
        if agent.field.supports("SESSION") {
            self.act(agent, "join", json!({}))?;
        }
        Ok(agent.within(&self.id))
    }

    /// Sends a SESSION action of an agent, which must succeed.
    pub(crate) fn act(&self, agent: &Agent, action: &str, more: Value) -> Checked<Value> {
        agent.ok("SESSION", self.payload(action, more))
    }

    /// The payload of a SESSION about this session.
    pub(crate) fn payload(&self, action: &str, more: Value) -> Value {
        with(json!({"action": action, "session_id": self.id}), more)
    }
}
