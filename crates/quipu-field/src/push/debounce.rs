//! The least time between two pushes about the same thing. The first wins: what follows within the
//! time is not told. Times are those of the commits, and what is remembered is forgotten wherever the
//! whole Field was quiet for as long, so that the outcome is a function of the log alone and whoever
//! resumes need only look back to such a quiet place.

use std::collections::HashMap;

use super::notices::Entity;

/// What was told last about each thing.
#[derive(Debug)]
pub(super) struct Debounce {
    gap_ms: u64,
    commit_ms: Option<u64>,
    told_ms: HashMap<Entity, u64>,
}

impl Debounce {
    pub(super) fn new(gap_ms: u64) -> Self {
        Self { gap_ms, commit_ms: None, told_ms: HashMap::new() }
    }

    /// Moves on to a commit.
    pub(super) fn reach(&mut self, commit_ms: u64) {
        if self.commit_ms.is_some_and(|before| is_quiet(before, commit_ms, self.gap_ms)) {
            self.told_ms = HashMap::new();
        }
        self.commit_ms = Some(commit_ms);
    }

    /// Whether something may be told about a thing now; if so, it counts as told.
    pub(super) fn admits(&mut self, entity: &Entity) -> bool {
        let now = self.commit_ms.unwrap_or_default();
        if self.told_ms.get(entity).is_some_and(|told| told.abs_diff(now) < self.gap_ms) {
            return false;
        }
        self.told_ms.insert(entity.clone(), now);
        true
    }
}

/// Whether nothing happened for so long between two commits that follow each other.
pub(super) const fn is_quiet(before_ms: u64, after_ms: u64, gap_ms: u64) -> bool {
    after_ms.saturating_sub(before_ms) >= gap_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wins_and_the_next_comes_after_the_gap() {
        let mut debounce = Debounce::new(100);
        let thing = Entity::Agent("a".to_owned());
        let told: Vec<bool> = [0, 40, 80, 120, 160, 230, 1000]
            .into_iter()
            .map(|time| {
                debounce.reach(time);
                debounce.admits(&thing)
            })
            .collect();
        assert_eq!(told, [true, false, false, true, false, true, true]);
        assert!(debounce.admits(&Entity::Agent("b".to_owned())), "things do not hinder each other");
    }

    #[test]
    fn beginning_at_a_quiet_place_gives_the_same_as_beginning_at_the_start() {
        let times = [0, 30, 90, 95, 300, 310, 390, 405, 420, 700, 750, 801];
        let thing = Entity::Agent("a".to_owned());
        let run = |times: &[u64]| -> Vec<bool> {
            let mut debounce = Debounce::new(100);
            let told = times.iter().map(|time| {
                debounce.reach(*time);
                debounce.admits(&thing)
            });
            told.collect()
        };
        let whole = run(&times);
        for start in 1..times.len() {
            if is_quiet(times[start - 1], times[start], 100) {
                assert_eq!(run(&times[start..]), whole[start..], "from {start}");
            }
        }
    }
}
