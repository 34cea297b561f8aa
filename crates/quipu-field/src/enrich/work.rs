//! Which units are still without a vector, newest recordings first: what was just recorded is wanted
//! sooner than what has been waiting for long.

use std::collections::BTreeSet;

use crate::read::view::Published;

/// Where the search stands.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Units from here on were recorded since the start; taken in their order.
    fresh: u32,
    /// Units below were there at the start; taken from the end.
    backlog: u32,
    /// Units that the model will not take, whatever happens.
    refused: BTreeSet<u32>,
}

impl Work {
    pub(crate) fn new(published: &Published) -> Self {
        let end = published.state.units.next_ordinal();
        Self { fresh: end, backlog: end, refused: BTreeSet::new() }
    }

    /// The next units without a vector, at most `limit`. They come again until they have one or are
    /// refused.
    pub(crate) fn next(&mut self, published: &Published, limit: usize) -> Vec<u32> {
        let end = published.state.units.next_ordinal();
        while self.fresh < end && !self.is_missing(published, self.fresh) {
            self.fresh += 1;
        }
        let fresh = (self.fresh..end).filter(|unit| self.is_missing(published, *unit));
        let fresh: Vec<u32> = fresh.take(limit).collect();
        if !fresh.is_empty() {
            return fresh;
        }
        while self.backlog > 0 && !self.is_missing(published, self.backlog - 1) {
            self.backlog -= 1;
        }
        let backlog = (0..self.backlog).rev().filter(|unit| self.is_missing(published, *unit));
        backlog.take(limit).collect()
    }

    /// A unit's text was refused for good.
    pub(crate) fn refuse(&mut self, unit: u32) {
        self.refused.insert(unit);
    }

    fn is_missing(&self, published: &Published, unit: u32) -> bool {
        is_wanted(published, unit)
            && !published.index.second().is_some_and(|second| second.has(unit))
            && !self.refused.contains(&unit)
    }
}

/// Whether a unit's vector can ever matter: it was not erased. What was replaced or withdrawn may come back.
pub(crate) fn is_wanted(published: &Published, unit: u32) -> bool {
    published.state.units.flags(unit).is_some_and(|flags| !flags.purged)
}
