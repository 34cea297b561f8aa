//! Who looks at a Session now, as its document says it. The words are stable.

use std::collections::BTreeMap;

use quipu_wire::harn::{JsonObject, LiveMode};
use serde::{Deserialize, Serialize};

/// The Event of a client that came, went, or took control.
pub(crate) const CLIENT_ATTACHED: &str = "vendor.live_client.attached";
pub(crate) const CLIENT_TOOK_OVER: &str = "vendor.live_client.took_over";
pub(crate) const CLIENT_DETACHED: &str = "vendor.live_client.detached";

/// The body of the document of a Session's clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveClients {
    /// By their ids. Some may have gone without a word.
    pub(crate) clients: BTreeMap<String, ClientRecord>,
    /// The Event that stands for the last change; none of a sign of life.
    #[serde(default, rename = "told", skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<ClientEvent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientRecord {
    pub(crate) agent: String,
    /// The authority of the credential that it came with.
    pub(crate) authority: u8,
    pub(crate) mode: LiveMode,
    pub(crate) prompt_injection: bool,
    pub(crate) permission_routing: bool,
    #[serde(default)]
    pub(crate) metadata: JsonObject,
    pub(crate) attached_ms: u64,
    pub(crate) seen_ms: u64,
    /// How long it may be silent.
    pub(crate) lease_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientEvent {
    pub(crate) event: String,
    pub(crate) payload: JsonObject,
}

impl ClientRecord {
    /// From when on it is taken to have gone. A sign is written down once half of the lease is over, so half a lease is added:
    /// whoever is never silent for longer than its lease never loses its place.
    pub(crate) const fn gone_ms(&self) -> u64 {
        self.seen_ms.saturating_add(self.lease_ms).saturating_add(self.lease_ms / 2)
    }

    /// Whether the next sign is to be written down.
    pub(crate) const fn is_due(&self, now_ms: u64) -> bool {
        now_ms >= self.seen_ms.saturating_add(self.lease_ms / 2)
    }

    pub(crate) const fn controls(&self) -> bool {
        matches!(self.mode, LiveMode::Controller)
    }

    /// Makes it what it is in a mode, with what its owner did not ask for otherwise.
    pub(crate) fn become_mode(&mut self, mode: LiveMode) {
        self.mode = mode;
        self.prompt_injection = self.controls();
        self.permission_routing = self.controls();
    }
}

impl LiveClients {
    /// The client that controls the Session.
    pub(crate) fn controller(&self) -> Option<&str> {
        let mut all = self.clients.iter();
        all.find(|(_, client)| client.controls()).map(|(id, _)| id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> ClientRecord {
        ClientRecord {
            agent: "a".to_owned(),
            authority: 5,
            mode: LiveMode::Observer,
            prompt_injection: false,
            permission_routing: false,
            metadata: JsonObject::default(),
            attached_ms: 0,
            seen_ms: 0,
            lease_ms: 60_000,
        }
    }

    #[test]
    fn whoever_is_never_silent_for_longer_than_its_lease_stays_and_two_signs_in_a_lease_are_written()
     {
        for silence in [1, 999, 7_000, 29_999, 30_000, 30_001, 45_000, 60_000] {
            let mut client = client();
            let (mut now, mut written) = (0, 0);
            while now < 60 * 60_000 {
                now += silence;
                assert!(now < client.gone_ms(), "{silence} at {now}");
                if client.is_due(now) {
                    (client.seen_ms, written) = (now, written + 1);
                }
            }
            assert!(written <= 120, "{silence}: {written}");
        }
    }
}
