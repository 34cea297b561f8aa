//! How a replay differs from its source: both streams side by side, up to the first difference.

use quipu_wire::harn::{ChangedDependency, DependencyKind, DivergentEvent, EventSide};

use super::outcome::ReplayOutcome;

/// What a comparison of two streams found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// How many events were looked at on both sides.
    pub events_compared: u64,
    /// Where they first differ.
    pub first_difference: Option<DivergentEvent>,
}

/// Compares two streams of events by what happened and the digest of what was said; ids and places are each
/// stream's own. Stops at the first difference.
#[must_use]
pub fn compare(
    source: impl IntoIterator<Item = EventSide>,
    replay: impl IntoIterator<Item = EventSide>,
) -> Comparison {
    let (mut source, mut replay) = (source.into_iter(), replay.into_iter());
    let mut index = 0;
    loop {
        let (one, other) = (source.next(), replay.next());
        let same = match (&one, &other) {
            (None, None) => return Comparison { events_compared: index, first_difference: None },
            (Some(one), Some(other)) => one.event == other.event && one.sha256 == other.sha256,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !same {
            let first = DivergentEvent { index, source: one, replay: other };
            return Comparison { events_compared: index + 1, first_difference: Some(first) };
        }
        index += 1;
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
