//! Names that stand for somebody before anybody takes them: the operator's, the server's own, and one for each key.
//! A key for any agent speaks under such a name only if it is its own, or an operator's.

use quipu_harness::CONNECTOR_WEBHOOK;
use quipu_wire::limits::AUTHORITY_MAX;

use super::key::{Credential, ID_CHARS, KeyAgent};
use crate::ids;

/// Who calls through an operator's key, or where there are no keys, and names no agent.
const OPERATOR: &str = "operator";
/// What the names of keys begin with; a key's id follows.
const OF_KEYS: &str = "key-";

/// Whether a name is kept for who it stands for.
pub(crate) fn is_reserved(agent: &str) -> bool {
    let of_key = |id: &str| id.len() == ID_CHARS && ids::is_drawn(id);
    matches!(agent, OPERATOR | CONNECTOR_WEBHOOK) || agent.strip_prefix(OF_KEYS).is_some_and(of_key)
}

impl Credential {
    /// As whom its bearer speaks who names nobody.
    pub(crate) fn own_name(&self) -> String {
        match &self.agent {
            KeyAgent::Named(agent) => agent.clone(),
            KeyAgent::Any if self.authority >= AUTHORITY_MAX => OPERATOR.to_owned(),
            KeyAgent::Any => format!("{OF_KEYS}{}", self.key_id),
        }
    }

    /// Whether its bearer may take a name, as far as it is not some registered agent's.
    pub(crate) fn may_take(&self, agent: &str) -> bool {
        self.authority >= AUTHORITY_MAX || !is_reserved(agent) || agent == self.own_name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_stand_for_somebody_are_kept_and_all_others_are_free() {
        for kept in ["operator", "connector_webhook", "key-k7d2m9xq"] {
            assert!(is_reserved(kept), "{kept}");
        }
        for free in ["", "operators", "key-", "key-k7d2m9x", "key-K7D2M9XQ", "key-k7d2m9xqq"] {
            assert!(!is_reserved(free), "{free}");
        }
    }
}
