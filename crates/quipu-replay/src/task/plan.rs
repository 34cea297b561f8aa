//! What a replay will do, once it was admitted: which mode, which substitutes, from which boundary.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use quipu_wire::harn::{DependencyKind, ReplayMode, Sha256, Visibility};

use super::identity::ReplayIdentity;
use crate::secrets::SecretHashing;

/// Whether a declared hash of a substitute must be the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HashTrust {
    #[default]
    Verify,
    /// It is taken as declared: for published fixtures whose hashes are placeholders.
    Declared,
}

/// A replay that may run. Its JSON is kept in logs: members are added, never renamed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayPlan {
    pub identity: ReplayIdentity,
    pub mode: ReplayMode,
    pub overrides: BTreeMap<String, PlannedOverride>,
    pub boundary: Option<Boundary>,
    /// Why, where an override says nothing itself.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boundary {
    pub checkpoint_id: String,
    /// The event that made it.
    pub event_id: String,
    /// That event's place.
    pub sequence: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedOverride {
    pub kind: DependencyKind,
    pub substitute: Substitute,
    pub sha256: Sha256,
    pub visibility: Visibility,
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Substitute {
    Value(Value),
    Artifact(String),
    /// A secret that was not kept: only what may be said of it, if anything may.
    Withheld(Option<Sha256>),
}

impl PlannedOverride {
    #[must_use]
    pub fn artifact_id(&self) -> Option<&str> {
        match &self.substitute {
            Substitute::Artifact(id) => Some(id),
            Substitute::Value(_) | Substitute::Withheld(_) => None,
        }
    }

    /// The digest that may be shown: of a secret, only what `secrets` allows.
    #[must_use]
    pub fn public_digest(&self, secrets: &SecretHashing) -> Option<Sha256> {
        match (self.kind, &self.substitute) {
            (DependencyKind::SecretValue, Substitute::Value(value)) => secrets.digest(value),
            (_, Substitute::Withheld(digest)) => *digest,
            (DependencyKind::SecretValue, Substitute::Artifact(_)) => None,
            _ => Some(self.sha256),
        }
    }
}

impl ReplayPlan {
    #[must_use]
    pub fn exact(identity: ReplayIdentity) -> Self {
        let (mode, overrides) = (ReplayMode::Exact, BTreeMap::new());
        Self { identity, mode, overrides, boundary: None, reason: None }
    }

    /// Why an answer is substituted: its own reason, else the replay's. A receipt never has a delta without.
    #[must_use]
    pub fn reason_for(&self, planned: &PlannedOverride) -> String {
        let given = planned.reason.as_ref().or(self.reason.as_ref());
        given.cloned().unwrap_or_else(|| "override given without a reason".to_owned())
    }

    /// The same plan with nothing in it that must not be kept. A replay in process needs no secret itself.
    #[must_use]
    pub fn without_secrets(mut self, secrets: &SecretHashing) -> Self {
        let kept = |planned: &PlannedOverride| planned.kind != DependencyKind::SecretValue;
        for planned in self.overrides.values_mut().filter(|planned| !kept(planned)) {
            let digest = planned.public_digest(secrets);
            planned.substitute = Substitute::Withheld(digest);
            planned.sha256 = digest.unwrap_or_else(|| Sha256::of(&[]));
        }
        self
    }

    /// What makes two replays the same one: source, mode, boundary, and the substitutes by digest.
    /// A secret enters it only as `secrets` allows: with [`SecretHashing::Omit`], replays that differ in
    /// secrets alone have the same digest.
    #[must_use]
    pub fn digest(&self, secrets: &SecretHashing) -> Sha256 {
        let overrides: BTreeMap<&str, Option<Sha256>> = self
            .overrides
            .iter()
            .map(|(key, planned)| (key.as_str(), planned.public_digest(secrets)))
            .collect();
        let value = json!({
            "source_task_id": self.identity.source_task_id,
            "mode": self.mode,
            "checkpoint_id": self.boundary.as_ref().map(|boundary| &boundary.checkpoint_id),
            "overrides": overrides,
        });
        Sha256::of_json(&value).expect("texts and digests have a canonical form")
    }
}
