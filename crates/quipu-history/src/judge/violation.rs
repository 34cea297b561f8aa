//! The report on a history that no log can explain.

use std::fmt::Write as _;

use crate::{
    event::{Event, Outcome},
    judge::log::Entry,
};

/// A rule that is violated, and the fewest events that show it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {what}")]
pub struct Violation {
    pub rule: &'static str,
    /// How it is broken.
    pub what: String,
    /// The events that show it, by their index in the history.
    pub events: Vec<usize>,
    /// The positions of the log that are involved.
    pub positions: Vec<u64>,
}

impl Violation {
    pub(crate) fn new(rule: &'static str, what: impl Into<String>) -> Self {
        Self { rule, what: what.into(), events: Vec::new(), positions: Vec::new() }
    }

    pub(crate) fn of(mut self, events: impl IntoIterator<Item = usize>) -> Self {
        self.events.extend(events);
        self
    }

    pub(crate) fn at(mut self, positions: impl IntoIterator<Item = u64>) -> Self {
        self.positions.extend(positions);
        self.positions.dedup();
        self
    }

    /// The violation as text, with its events and commits.
    #[must_use]
    pub fn describe(&self, events: &[Event], log: &[Entry]) -> String {
        let mut text = format!("{self}\n");
        for event in self.events.iter().filter_map(|at| events.get(*at)) {
            writeln!(text, "  {}", line(event)).ok();
        }
        for position in &self.positions {
            let commit = log.iter().find(|entry| entry.position == *position);
            match commit {
                Some(entry) => writeln!(text, "  log {position}: {entry:?}").ok(),
                None => writeln!(text, "  log {position}: nothing").ok(),
            };
        }
        text
    }
}

fn line(event: &Event) -> String {
    let Event { client, node, invoked_us, request, .. } = event;
    let until = event.returned_us.map_or_else(|| "…".to_owned(), |at| format!("{at}"));
    let min = event.min_position.map_or_else(String::new, |at| format!(" from {at} on"));
    let outcome = match &event.outcome {
        Outcome::Unknown(why) => format!("unknown ({why})"),
        Outcome::Answered { position, answer } => format!("{answer:?} at {position:?}"),
    };
    format!(
        "{invoked_us}–{until} µs, client {client} on node {node}: {request:?}{min} -> {outcome}"
    )
}
