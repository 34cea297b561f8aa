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
pub(crate) struct HeldSecrets(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    /// How many were ever held: this says which is older.
    count: u64,
    by_task: BTreeMap<String, (u64, BTreeMap<String, Value>)>,
}

impl std::fmt::Debug for HeldSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeldSecrets(..)")
    }
}

impl HeldSecrets {
    pub(crate) fn hold(&self, task: &str, secrets: BTreeMap<String, Value>) {
        if secrets.is_empty() {
            return;
        }
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while held.by_task.len() >= REPLAYS_MAX {
            let oldest = held.by_task.iter().min_by_key(|(_, (age, _))| *age);
            let Some(oldest) = oldest.map(|(task, _)| task.clone()) else { break };
            held.by_task.remove(&oldest);
        }
        held.count += 1;
        let age = held.count;
        held.by_task.insert(task.to_owned(), (age, secrets));
    }

    /// Puts what is held back into a plan.
    pub(crate) fn restore(&self, task: &str, plan: &mut ReplayPlan) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, secrets)) = held.by_task.get(task) else { return };
        for (key, value) in secrets {
            if let Some(planned) = plan.overrides.get_mut(key) {
                planned.substitute = Substitute::Value(value.clone());
            }
        }
    }

    /// Forgets those of a replay that is over.
    pub(crate) fn forget(&self, task: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_task.remove(task);
    }
}

pub(crate) fn secrets_of(request: &ReplayTaskRequest) -> BTreeMap<String, Value> {
    let secret = request.overrides.iter().filter(|(_, it)| it.kind == DependencyKind::SecretValue);
    secret.filter_map(|(key, it)| Some((key.clone(), it.value.clone()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_first_whatever_their_ids_are() {
        let held = HeldSecrets::default();
        let secrets = || BTreeMap::from([("secret:a".to_owned(), Value::from(1))]);
        held.hold("z", secrets());
        for number in 0..REPLAYS_MAX {
            held.hold(&format!("a{number:05}"), secrets());
        }
        let kept = held.0.lock().unwrap();
        assert_eq!(kept.by_task.len(), REPLAYS_MAX);
        assert!(!kept.by_task.contains_key("z") && kept.by_task.contains_key("a00000"));
    }
}
