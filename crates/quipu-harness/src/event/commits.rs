//! The commits with events of a task, in order and a few at a time: reading a task of any length takes the same
//! memory.

use std::collections::VecDeque;

use quipu_core::Event as Logged;
use quipu_log::{Commit, Header};
use quipu_wire::harn::{HarnError, HarnErrorCode};

use crate::{
    Harness,
    handle::failure::{harn_error, internal_error},
};

/// How many commits are in memory at once.
const BATCH: usize = 64;

pub(crate) struct TaskCommits {
    harness: Harness,
    task: String,
    /// The next of the task's commits, by its number among them.
    next: usize,
    read: VecDeque<Commit>,
}

impl TaskCommits {
    pub(crate) fn new(harness: &Harness, task: &str) -> Self {
        let (harness, task) = (harness.clone(), task.to_owned());
        Self { harness, task, next: 0, read: VecDeque::new() }
    }

    /// Those from a position on.
    pub(crate) fn from(harness: &Harness, task: &str, position: u64) -> Self {
        let before = harness.field.with_state(|state| {
            let commits = state.streams.task(task).map_or(&[][..], |stream| &stream.commits);
            commits.partition_point(|at| *at < position)
        });
        Self { next: before, ..Self::new(harness, task) }
    }

    pub(crate) fn last(harness: &Harness, task: &str, count: usize) -> Self {
        let all = harness
            .field
            .with_state(|state| state.streams.task(task).map_or(0, |stream| stream.commits.len()));
        Self { next: all.saturating_sub(count), ..Self::new(harness, task) }
    }

    fn fill(&mut self) -> Result<(), HarnError> {
        let (task, next) = (&self.task, self.next);
        let wanted = self.harness.field.with_state(|state| {
            let commits = state.streams.task(task).map_or(&[][..], |stream| &stream.commits);
            near(commits.get(next..).unwrap_or_default())
        });
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { return Ok(()) };
        let span = usize::try_from(last - first + 1).unwrap_or(BATCH);
        let read = self.harness.field.commits(*first, span).map_err(|error| harn_error(&error))?;
        // Of large commits fewer are read at once than were asked for; the rest follows.
        let far = read.last().map_or(0, |commit| commit.position);
        let mine = |commit: &Commit| wanted.binary_search(&commit.position).is_ok();
        self.read.extend(read.into_iter().filter(mine));
        let expected = wanted.partition_point(|position| *position <= far);
        if self.read.is_empty() || self.read.len() != expected {
            let message = format!("the log no longer has what it had of task {task}");
            return Err(HarnError::new(HarnErrorCode::InternalError, message));
        }
        self.next += expected;
        Ok(())
    }
}

/// The first commits that lie so close together that reading them at once reads little else.
fn near(commits: &[u64]) -> Vec<u64> {
    let Some(first) = commits.first() else { return Vec::new() };
    let close = |(count, at): (u64, &u64)| at - first <= 2 * count;
    let count = (0..).zip(commits).take(BATCH).take_while(|it| close(*it)).count();
    commits.iter().take(count).copied().collect()
}

impl Iterator for TaskCommits {
    type Item = Result<(Header<Logged>, Commit), HarnError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.is_empty()
            && let Err(error) = self.fill()
        {
            return Some(Err(error));
        }
        let commit = self.read.pop_front()?;
        let decoded = commit.decode_header::<Logged>().map_err(|error| {
            HarnError::new(HarnErrorCode::InternalError, format!("the log is damaged: {error}"))
        });
        Some(decoded.map(|header| (header, commit)))
    }
}

impl Harness {
    pub(crate) fn commit(&self, position: u64) -> Result<(Header<Logged>, Commit), HarnError> {
        let read = self.field.commits(position, 1).map_err(|error| harn_error(&error))?;
        let commit = read.into_iter().next().filter(|commit| commit.position == position);
        let commit = commit.ok_or_else(|| internal_error(format!("no commit {position}")))?;
        let header = commit.decode_header::<Logged>();
        let header = header.map_err(|damage| internal_error(damage.to_string()))?;
        Ok((header, commit))
    }
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn commits_that_lie_together_are_read_at_once_and_others_are_not() {
        assert!(near(&[]).is_empty());
        assert_eq!(near(&[7, 8, 9, 500]), [7, 8, 9]);
        assert_eq!(near(&[7, 500, 501]), [7]);
        assert_eq!(near(&(0..1000).collect::<Vec<_>>()).len(), super::BATCH);
    }
}
