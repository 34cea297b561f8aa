//! Which recorded Tasks are to be run again.

use std::str::FromStr;

use quipu_client::Harn;
use quipu_wire::harn::{HarnTask, TaskState};

use crate::{args::client_args::ServerArgs, ui::failure::Failure};

/// The names that a list of Tasks is filtered by where they are.
const BY_SERVER: [&str; 6] =
    ["session_id", "workspace_id", "persona_id", "queue", "parent_task_id", "status"];
const METADATA: &str = "metadata.";
/// The name under which the server works itself.
const SERVER: &str = "system";
/// What the ids of replays start with.
const REPLAYS: &str = "task_replay_";

/// One condition: a name and the value that it must have.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    name: String,
    value: String,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
        let known = BY_SERVER.contains(&name)
            || name.strip_prefix(METADATA).is_some_and(|member| !member.is_empty());
        if !known {
            return Err(format!("{name} is none of {}, {METADATA}NAME", BY_SERVER.join(", ")));
        }
        if name == "status" && !TaskState::parse(value).is_some_and(TaskState::is_terminal) {
            return Err("status must be COMPLETED, FAILED or CANCELED".to_owned());
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

impl Wanted {
    /// Whether a Task has what is asked for in its metadata: a text as it is, anything else as JSON.
    fn is_met(&self, task: &HarnTask) -> bool {
        let Some(member) = self.name.strip_prefix(METADATA) else { return true };
        task.envelope.metadata.get(member).is_some_and(|found| {
            let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            text == self.value
        })
    }
}

/// The Tasks that pass every filter and that a worker outside did, in the order of their making.
pub(super) async fn all(
    harn: &Harn,
    server: &ServerArgs,
    wanted: &[Wanted],
) -> Result<Vec<HarnTask>, Failure> {
    let named = |name: &str| wanted.iter().any(|it| it.name == name);
    let mut query: Vec<(&str, &str)> = wanted
        .iter()
        .filter(|it| !it.name.starts_with(METADATA))
        .map(|it| (it.name.as_str(), it.value.as_str()))
        .collect();
    if !named("status") {
        query.push(("status", TaskState::Completed.as_str()));
    }
    let (mut found, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = harn.tasks(&query, cursor.as_deref()).await;
        let page = page.map_err(|error| server.failed(&error))?;
        let pass = |task: &HarnTask| {
            !task.envelope.id.starts_with(REPLAYS)
                && task.assigned_agent_id.as_deref().is_some_and(|agent| agent != SERVER)
                && wanted.iter().all(|it| it.is_met(task))
        };
        found.extend(page.data.into_iter().filter(pass));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_known_name_and_a_value() {
        for right in ["persona_id=p", "metadata.suite=ci", "status=FAILED", "queue=a=b"] {
            assert!(right.parse::<Wanted>().is_ok(), "{right}");
        }
        for wrong in ["persona", "colour=red", "status=WORKING", "metadata.=x", "=x"] {
            assert!(wrong.parse::<Wanted>().is_err(), "{wrong}");
        }
    }
}
