//! Endings of tasks that have no receipt yet. Whoever issues receipts works from here, also after a crash.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The endings that wait for a receipt, oldest first. A task that is tried again ends more than once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndingTable {
    by_position: BTreeSet<(u64, String)>,
    by_task: BTreeSet<(String, u64)>,
}

impl EndingTable {
    /// Whether an ending of the task has no receipt yet. Until it has, the task is not told to have ended.
    #[must_use]
    pub fn waits(&self, task: &str) -> bool {
        self.first_of(task).is_some()
    }

    /// The commit of the oldest ending of a task that has no receipt yet.
    #[must_use]
    pub fn first_of(&self, task: &str) -> Option<u64> {
        let first = self.by_task.range((task.to_owned(), 0)..).next()?;
        (first.0 == task).then_some(first.1)
    }

    /// All of them, oldest first: the commit and the task.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.by_position.iter().map(|(position, task)| (*position, task.as_str()))
    }

    pub fn push(&mut self, task: &str, position: u64) {
        self.by_position.insert((position, task.to_owned()));
        self.by_task.insert((task.to_owned(), position));
    }

    /// The oldest ending of a task needs no receipt any more.
    pub fn settle(&mut self, task: &str) {
        let Some(position) = self.first_of(task) else { return };
        self.by_position.remove(&(position, task.to_owned()));
        self.by_task.remove(&(task.to_owned(), position));
    }
}

impl Serialize for EndingTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.by_position.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EndingTable {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Self::default();
        for (position, task) in BTreeSet::<(u64, String)>::deserialize(deserializer)? {
            table.push(&task, position);
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_ended_twice_waits_until_both_endings_are_settled() {
        let mut table = EndingTable::default();
        table.push("b", 3);
        table.push("a", 5);
        table.push("b", 7);
        assert_eq!(table.iter().collect::<Vec<_>>(), [(3, "b"), (5, "a"), (7, "b")]);
        table.settle("b");
        assert_eq!(table.first_of("b"), Some(7));
        table.settle("b");
        assert!(!table.waits("b") && table.waits("a"));
        table.settle("nobody");
        assert_eq!(table.iter().collect::<Vec<_>>(), [(5, "a")]);
    }
}
