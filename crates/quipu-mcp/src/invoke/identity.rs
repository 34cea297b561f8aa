//! Who speaks. A host knows nothing of registration, so somebody must be found for it: the agent that
//! the call names, the configured one, the credential's own, or one named after the client.

use serde_json::{Map, Value};

use crate::caller::{Caller, Presented};

/// The longest name that is taken from a client.
const NAME_BYTES_MAX: usize = 64;
/// Who speaks for a client that does not say what it is.
const NAMELESS: &str = "mcp-client";

/// The agent that speaks in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The call names it. It is the protocol's to the letter: it has to register itself.
    Named(String),
    /// Found for the host. It is registered when it is first needed.
    Host(String),
}

impl Speaker {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Named(name) | Self::Host(name) => name,
        }
    }
}

/// Takes `agent_id` out of the arguments, or else finds who speaks for the host.
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

/// Who speaks where nobody is named.
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

/// Takes an argument that must be a text, if it is there.
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

/// The name of a client as the name of an agent: `Visual Studio Code` to `visual-studio-code`.
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
