//! What all runs of a test did together.

use std::{collections::BTreeMap, fmt};

use quipu_history::{Fault, Verdict};

/// The sums.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    runs: usize,
    sum: Verdict,
    faults: BTreeMap<&'static str, usize>,
}

impl Tally {
    pub(crate) fn add(&mut self, verdict: &Verdict, faults: impl Iterator<Item = Fault>) {
        self.runs += 1;
        self.sum.operations += verdict.operations;
        self.sum.unknown += verdict.unknown;
        self.sum.refused += verdict.refused;
        self.sum.commits += verdict.commits;
        self.sum.objects += verdict.objects;
        for fault in faults {
            *self.faults.entry(fault.name()).or_default() += 1;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { operations, unknown, refused, commits, objects } = self.sum;
        write!(f, "{} runs, {operations} operations, {unknown} unknown, ", self.runs)?;
        write!(f, "{refused} refused, {commits} commits, {objects} objects; faults:")?;
        self.faults.iter().try_for_each(|(name, count)| write!(f, " {count} {name},"))
    }
}
