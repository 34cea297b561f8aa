//! The log as clients read it: commits with the facts in them, each checked against its own hash.

use quipu_wire::{Hash, json::canon};
use serde_json::Value;

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its position, from 1.
    pub position: u64,
    pub hash: String,
    /// The hash of the commit before it.
    pub prev: String,
    pub epoch: u64,
    /// The agent that caused it.
    pub actor: String,
    /// The id of the message that caused it, if there is one.
    pub message: Option<String>,
    /// The changes that it contains.
    pub facts: Vec<Fact>,
}

/// A change that a commit records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// An agent joined.
    Registered(String),
    /// A unit was recorded.
    Recorded(String),
    /// A unit was retracted.
    Retracted(String),
    /// A task was made.
    Created(String),
    /// An agent claimed a task.
    Claimed {
        task: String,
        /// The agent that has it now.
        agent: String,
    },
    /// An event that no request of a client causes, by its kind.
    Other(String),
}

impl Entry {
    /// Reads a commit of a page of `/v1/log`.
    ///
    /// # Errors
    /// A description of what is wrong, for example that the hash is not that of the header.
    pub fn read(commit: &Value) -> Result<Self, String> {
        let header = &commit["header"];
        let position = number(&header["position"])?;
        let hash = text(&commit["hash"])?;
        let canonical = canon::to_vec(header).map_err(|error| error.to_string())?;
        if Hash::of(&canonical).to_string() != hash {
            return Err(format!("the hash at position {position} is not that of its header"));
        }
        if number(&commit["position"])? != position {
            return Err(format!("the header at position {} says {position}", commit["position"]));
        }
        let events = header["events"].as_array().ok_or("a commit has no events")?;
        Ok(Self {
            position,
            hash,
            prev: text(&header["prev"])?,
            epoch: number(&header["epoch"])?,
            actor: header["actor"].as_str().unwrap_or_default().to_owned(),
            message: header["request"].as_str().map(str::to_owned),
            facts: events.iter().map(|event| fact(&event["event"])).collect::<Result<_, _>>()?,
        })
    }
}

fn fact(event: &Value) -> Result<Fact, String> {
    let kind = text(&event["kind"])?;
    Ok(match kind.as_str() {
        "agent.registered" => Fact::Registered(text(&event["agent"])?),
        "unit.recorded" => Fact::Recorded(text(&event["unit"])?),
        "unit.retracted" => Fact::Retracted(text(&event["unit"])?),
        "task.changed" => {
            let (task, change) = (text(&event["task"])?, &event["change"]);
            match (change["what"].as_str(), change["assignee"].as_str()) {
                (Some("created"), None) => Fact::Created(task),
                (Some("moved"), Some(agent)) => Fact::Claimed { task, agent: agent.to_owned() },
                _ => Fact::Other(kind),
            }
        }
        _ => Fact::Other(kind),
    })
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{value} is no text"))
}

fn number(value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("{value} is no number"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn commit(hash: Option<&str>) -> Value {
        let header = json!({"v": 1, "position": 4, "epoch": 9, "actor": "a", "request": "m", "prev": "00",
            "events": [{"event": {"kind": "task.changed", "task": "t",
                "change": {"what": "moved", "assignee": "a"}}}]});
        let own = Hash::of(&canon::to_vec(&header).unwrap()).to_string();
        json!({"position": 4, "hash": hash.unwrap_or(&own), "header": header})
    }

    #[test]
    fn a_commit_is_read_with_its_facts() {
        let entry = Entry::read(&commit(None)).unwrap();
        assert_eq!((entry.position, entry.epoch, entry.message.as_deref()), (4, 9, Some("m")));
        assert_eq!(entry.facts, [Fact::Claimed { task: "t".to_owned(), agent: "a".to_owned() }]);
    }

    #[test]
    fn a_commit_whose_hash_is_another_is_refused() {
        let refused = Entry::read(&commit(Some("00"))).unwrap_err();
        assert_eq!(refused, "the hash at position 4 is not that of its header");
    }
}
