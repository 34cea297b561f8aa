//! The faults of a run and their times, chosen from the seed. Whoever runs the trial causes them.

use std::time::Duration;

use crate::load::dice::Dice;

/// A fault that lasts for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A node is killed and restarted at the end.
    KillNode(usize),
    /// The server that orders the log is killed and restarted at the end.
    KillEngine,
    /// All connections between a node and the log are closed, and new ones are refused.
    Cut(usize),
    /// What a node sends to the log is lost.
    Deafen(usize),
    /// The answers of the log to a node are lost.
    Mute(usize),
    /// Messages between a node and the log are delayed.
    Delay(usize),
}

impl Fault {
    /// The name of the fault, without its node.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::KillNode(_) => "node killed",
            Self::KillEngine => "log's server killed",
            Self::Cut(_) => "cut",
            Self::Deafen(_) => "questions lost",
            Self::Mute(_) => "answers lost",
            Self::Delay(_) => "delay",
        }
    }
}

/// The faults of a run, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// For each fault its start after the beginning of the run, its duration, and what it is.
    pub faults: Vec<(Duration, Duration, Fault)>,
}

impl FaultPlan {
    /// Chooses one or two faults for a run with this many nodes.
    #[must_use]
    pub fn draw(seed: u64, nodes: usize) -> Self {
        let mut dice = Dice::for_part(seed, 0xfa);
        let mut at = 100 + dice.below(300);
        let count = 1 + dice.below(2);
        let faults = (0..count).map(|_| {
            let length = 100 + dice.below(500);
            let node = dice.index(nodes);
            let fault = match dice.below(12) {
                0..3 => Fault::KillNode(node),
                3..5 => Fault::KillEngine,
                5..7 => Fault::Cut(node),
                7..9 => Fault::Deafen(node),
                9..11 => Fault::Mute(node),
                _ => Fault::Delay(node),
            };
            let begins = at;
            at += length + dice.below(300);
            (Duration::from_millis(begins), Duration::from_millis(length), fault)
        });
        Self { faults: faults.collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_faults_and_many_seeds_give_all() {
        assert_eq!(FaultPlan::draw(7, 3), FaultPlan::draw(7, 3));
        let plans = (0..200).map(|seed| FaultPlan::draw(seed, 3));
        let drawn: BTreeSet<Fault> =
            plans.flat_map(|plan| plan.faults).map(|(_, _, fault)| fault).collect();
        assert_eq!(drawn.len(), 5 * 3 + 1, "{drawn:?}");
    }

    #[test]
    fn faults_of_a_run_come_one_after_the_other() {
        for plan in (0..200).map(|seed| FaultPlan::draw(seed, 3)) {
            let ends = plan.faults.iter().map(|(begins, length, _)| *begins + *length);
            let begins = plan.faults.iter().skip(1).map(|(begins, ..)| *begins);
            assert!(ends.zip(begins).all(|(end, begin)| end <= begin), "{plan:?}");
        }
    }
}
