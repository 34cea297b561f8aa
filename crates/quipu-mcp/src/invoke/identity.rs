//! Which agent speaks in a call. An MCP host does not know that agents have to register, so one is chosen for it: the
//! agent that the call names, the configured one, the one that the credential is bound to, or one named after the
//! client.

use serde_json::{Map, Value};

use crate::caller::{Caller, Presented};

/// The longest agent name that is made from a client's name.
const NAME_BYTES_MAX: usize = 64;
/// The agent for a client that does not say its name.
const NAMELESS: &str = "mcp-client";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The call names this agent. It has to have registered itself, as the protocol demands.
    Named(String),
    /// Chosen for the host. It is registered when it is first needed.
    Host(String),
}

impl Speaker {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Named(name) | Self::Host(name) => name,
        }
    }
}

/// Removes `agent_id` from the arguments. If there is none, chooses the agent for the host.
pub(crate) async fn find<C: Caller>(
    caller: &C,
    presented: &Presented,
    configured: Option<&str>,
    arguments: &mut Map<String, Value>,
    client_name: Option<&str>,
) -> Result<Speaker, String> {
    match text_argument(arguments, "agent_id")? {
        Some(named) => Ok(Speaker::Named(named)),
        None => Ok(Speaker::Host(host(caller, presented, configured, client_name).await)),
    }
}

/// The agent that speaks if a call names none.
pub(crate) async fn host<C: Caller>(
    caller: &C,
    presented: &Presented,
    configured: Option<&str>,
    client_name: Option<&str>,
) -> String {
    if let Some(agent) = presented.agent.as_deref().or(configured) {
        return agent.to_owned();
    }
    match caller.bound_agent(presented).await {
        Some(agent) => agent,
        None => of_client(client_name.unwrap_or_default()),
    }
}

/// Removes an optional argument, which must be a string that is not blank.
pub(crate) fn text_argument(
    arguments: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<String>, String> {
    match arguments.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text)),
        Some(Value::String(_)) => Err(format!("{name}: must not be blank")),
        Some(_) => Err(format!("{name}: must be a string")),
    }
}

/// Makes an agent name from a client's name: `Visual Studio Code` becomes `visual-studio-code`.
fn of_client(name: &str) -> String {
    let mut agent = String::new();
    for letter in name.chars() {
        match letter.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9' | '.' | '_') => agent.push(letter),
            _ if !agent.is_empty() && !agent.ends_with('-') => agent.push('-'),
            _ => {}
        }
        if agent.len() >= NAME_BYTES_MAX {
            break;
        }
    }
    match agent.trim_end_matches('-') {
        "" | "system" => NAMELESS.to_owned(),
        agent => agent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_clients_that_people_use_have_plain_names() {
        assert_eq!(of_client("claude-code"), "claude-code");
        assert_eq!(of_client("Visual Studio Code"), "visual-studio-code");
        assert_eq!(of_client("  Zed — ёditor (beta)"), "zed-ditor-beta");
        for nameless in ["", "—", "system", " \u{0} "] {
            assert_eq!(of_client(nameless), NAMELESS);
        }
    }

    proptest! {
        #[test]
        fn any_name_gives_an_id_that_a_field_takes(name in any::<String>()) {
            let agent = of_client(&name);
            prop_assert!(!agent.is_empty() && agent.len() <= NAME_BYTES_MAX && agent != "system");
            prop_assert!(agent.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(of_client(&agent), agent.clone(), "a name of ours stays as it is");
        }
    }
}
