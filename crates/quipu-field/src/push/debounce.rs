//! The least time between two pushes about the same thing. The first is sent, and what follows within the
//! time is not. Times are those of the commits. Once the whole Field was quiet for as long, everything before
//! is forgotten: so what is sent depends on the log alone, and whoever resumes reads from such a quiet place on.

use std::collections::HashMap;

use super::notices::Entity;
use crate::base::limits::DEBOUNCED_THINGS_MAX;

/// When something was last sent about each thing.
#[derive(Debug)]
pub(super) struct Debounce {
    gap_ms: u64,
    /// The time of the commit before.
    commit_ms: Option<u64>,
    /// The latest time since the last quiet place: it does not go back where the clock does.
    now_ms: u64,
    told_ms: HashMap<Entity, u64>,
}

impl Debounce {
    pub(super) fn new(gap_ms: u64) -> Self {
        Self { gap_ms, commit_ms: None, now_ms: 0, told_ms: HashMap::new() }
    }

    pub(super) fn reach(&mut self, commit_ms: u64) {
        if self.commit_ms.is_some_and(|before| is_quiet(before, commit_ms, self.gap_ms)) {
            self.told_ms = HashMap::new();
            self.now_ms = 0;
        }
        self.now_ms = self.now_ms.max(commit_ms);
        self.commit_ms = Some(commit_ms);
    }

    /// Whether something may be sent about a thing now; if so, it counts as sent.
    pub(super) fn admits(&mut self, entity: &Entity) -> bool {
        let (now, gap_ms) = (self.now_ms, self.gap_ms);
        let holds = |told: u64| now.saturating_sub(told) < gap_ms;
        if self.told_ms.get(entity).is_some_and(|told| holds(*told)) {
            return false;
        }
        if self.told_ms.len() >= DEBOUNCED_THINGS_MAX {
            self.told_ms.retain(|_, told| holds(*told));
        }
        // Too many things within the time: all are forgotten, which is a function of the log as well.
        if self.told_ms.len() >= DEBOUNCED_THINGS_MAX {
            self.told_ms = HashMap::new();
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
    fn what_is_remembered_is_bounded() {
        let mut debounce = Debounce::new(100);
        debounce.reach(0);
        for number in 0..=DEBOUNCED_THINGS_MAX {
            assert!(debounce.admits(&Entity::Agent(number.to_string())));
        }
        assert_eq!(debounce.told_ms.len(), 1);
    }

    #[test]
    fn a_clock_that_goes_back_makes_nothing_new() {
        let mut debounce = Debounce::new(100);
        let thing = Entity::Agent("a".to_owned());
        let told = [50, 120, 20, 149, 150].map(|time| {
            debounce.reach(time);
            debounce.admits(&thing)
        });
        // From 20 to 149 is a quiet place, as far as times say.
        assert_eq!(told, [true, false, false, true, false]);
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
