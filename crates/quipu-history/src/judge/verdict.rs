//! Judges a history: compares all answers with the log that the nodes end with, and then, without the log, with each
//! other.

use crate::{
    event::{Answer, Event, Outcome},
    judge::{
        bounds::Bounds, log::Entry, model::Model, objects::explain, reads, refusals,
        violation::Violation, writes,
    },
};

/// How much was judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    /// All operations.
    pub operations: usize,
    /// Operations with an unknown outcome.
    pub unknown: usize,
    /// Writes that were refused.
    pub refused: usize,
    /// Commits in the log.
    pub commits: usize,
    /// Things whose operations were also explained without the log.
    pub objects: usize,
}

/// Judges a history. `logs` are the logs that the nodes return after the run.
///
/// # Errors
/// The first rule that is violated.
pub fn judge(events: &[Event], logs: &[Vec<Entry>]) -> Result<Verdict, Violation> {
    let witness = agree(logs)?;
    let model = Model::of(witness, events)?;
    let bounds = Bounds::of(events);
    form(events, &model)?;
    writes::check(events, &model, &bounds)?;
    refusals::check(events, &model, &bounds)?;
    reads::check(events, &model, &bounds)?;
    let objects = explain(events)?;
    let refused = |event: &&Event| {
        event.write().is_some() && matches!(event.answer(), Some(Answer::Refused(_)))
    };
    Ok(Verdict {
        operations: events.len(),
        unknown: events.iter().filter(|e| matches!(e.outcome, Outcome::Unknown(_))).count(),
        refused: events.iter().filter(refused).count(),
        commits: witness.len(),
        objects,
    })
}

/// Checks that no two nodes have different commits at the same position. Returns the longest log.
fn agree(logs: &[Vec<Entry>]) -> Result<&[Entry], Violation> {
    let longest = logs.iter().max_by_key(|log| log.len()).map_or(&[][..], Vec::as_slice);
    for (node, log) in logs.iter().enumerate() {
        if let Some((one, other)) = log.iter().zip(longest).find(|(one, other)| one != other) {
            let what = format!("node {node} has {one:?}, another has {other:?}");
            return Err(Violation::new("agreement", what).at([one.position]));
        }
    }
    Ok(longest)
}

/// Checks that every answer has the right form and reports a position that exists.
fn form(events: &[Event], model: &Model<'_>) -> Result<(), Violation> {
    for (at, event) in events.iter().enumerate() {
        if let Some(Answer::Malformed(what)) = event.answer() {
            return Err(Violation::new("form", what).of([at]));
        }
        if let Some(position) =
            event.reported_position().filter(|position| *position > model.head())
        {
            let what = format!("{position} was reported, and the log ends at {}", model.head());
            return Err(Violation::new("durable", what).of([at]));
        }
    }
    Ok(())
}
