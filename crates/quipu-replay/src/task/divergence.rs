//! How a replay differs from its source: both streams side by side, up to the first difference.

use quipu_wire::harn::{ChangedDependency, DependencyKind, DivergentEvent, EventSide};

use super::outcome::ReplayOutcome;

/// A comparison of two streams of events under way, by what happened and the digest of what was said; ids and
/// places are each stream's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// How many events were looked at on both sides.
    pub events_compared: u64,
    /// Where they first differ.
    pub first_difference: Option<DivergentEvent>,
}

impl Comparison {
    /// Takes the next event of each; one side is nothing where its stream has ended. What comes after the first
    /// difference is not looked at.
    pub fn next(&mut self, source: Option<EventSide>, replay: Option<EventSide>) {
        if self.first_difference.is_some() {
            return;
        }
        let same = match (&source, &replay) {
            (None, None) => return,
            (Some(one), Some(other)) => one.event == other.event && one.sha256 == other.sha256,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !same {
            let index = self.events_compared;
            self.first_difference = Some(DivergentEvent { index, source, replay });
        }
        self.events_compared += 1;
    }
}

impl ReplayOutcome {
    /// The answers that were not the same, by key.
    #[must_use]
    pub fn changed_dependencies(&self) -> Vec<ChangedDependency> {
        let changed = self.applied.iter().filter(|applied| applied.before != Some(applied.after));
        changed
            .map(|applied| ChangedDependency {
                key: applied.key.clone(),
                source_sha256: applied.before,
                // A plain hash of a short secret can be guessed.
                replay_sha256: (applied.kind != DependencyKind::SecretValue)
                    .then_some(applied.after),
                overridden: true,
            })
            .collect()
    }
}
