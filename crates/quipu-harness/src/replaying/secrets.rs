//! Substituted secrets for workers and modules. They are held in memory while the replay lasts and written nowhere, so a
//! restart loses them: the replay then fails and names the first.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use quipu_replay::task::{ReplayPlan, Substitute};
use quipu_wire::harn::{DependencyKind, ReplayTaskRequest};
use serde_json::Value;

/// How many replays may have secrets in memory; the oldest are forgotten.
const REPLAYS_MAX: usize = 1024;

/// Secrets by replay Task and key.
#[derive(Clone, Default)]
pub(crate) struct HeldSecrets(Arc<Mutex<BTreeMap<String, BTreeMap<String, Value>>>>);

impl std::fmt::Debug for HeldSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeldSecrets(..)")
    }
}

impl HeldSecrets {
    /// Holds the secrets of a request.
    pub(super) fn hold(&self, task: &str, secrets: BTreeMap<String, Value>) {
        if secrets.is_empty() {
            return;
        }
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while held.len() >= REPLAYS_MAX {
            held.pop_first();
        }
        held.insert(task.to_owned(), secrets);
    }

    /// Puts what is held back into a plan.
    pub(super) fn restore(&self, task: &str, plan: &mut ReplayPlan) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(secrets) = held.get(task) else { return };
        for (key, value) in secrets {
            if let Some(planned) = plan.overrides.get_mut(key) {
                planned.substitute = Substitute::Value(value.clone());
            }
        }
    }

    /// Forgets those of a replay that is over.
    pub(super) fn forget(&self, task: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(task);
    }
}

/// The secrets that a request substitutes.
pub(super) fn secrets_of(request: &ReplayTaskRequest) -> BTreeMap<String, Value> {
    let secret = request.overrides.iter().filter(|(_, it)| it.kind == DependencyKind::SecretValue);
    secret.filter_map(|(key, it)| Some((key.clone(), it.value.clone()?))).collect()
}
