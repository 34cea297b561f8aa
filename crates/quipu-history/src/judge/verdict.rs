//! Holds everything that clients were told against the log that the nodes end with, and then, without it, against itself.

use crate::{
    event::{Answer, Event, Outcome},
    judge::{
        bounds::Bounds, log::Entry, model::Model, objects::explain, reads, refusals,
        violation::Violation, writes,
    },
};

/// What was judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Operations.
    pub operations: usize,
    /// Those of which nobody knows what happened.
    pub unknown: usize,
    /// Writes that were refused.
    pub refused: usize,
    /// Commits of the log.
    pub commits: usize,
    /// Things whose operations were also explained without the log.
    pub objects: usize,
}

/// Judges a history. `logs` has the log as each node gave it once all was over.
///
/// # Errors
/// The first rule that does not hold.
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

/// No two nodes disagree on any position. Answers the longest log.
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

/// No answer is of a wrong form or tells a position that the log does not have.
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
