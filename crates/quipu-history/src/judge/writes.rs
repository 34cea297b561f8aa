//! Checks changes against the log: each acknowledged change is in the log exactly once, and its position agrees with
//! real time.

use std::collections::BTreeMap;

use crate::{
    event::{Answer, Done, Event, Write},
    judge::{
        bounds::Bounds,
        log::{Entry, Fact},
        model::Model,
        violation::Violation,
    },
};

/// All requests with the same message, by agent and message id, in the order of the history.
type Attempts<'a> = BTreeMap<(&'a str, &'a str), Vec<usize>>;

/// Checks every change and every commit.
pub(crate) fn check(events: &[Event], model: &Model<'_>, bounds: &Bounds) -> Result<(), Violation> {
    for (at, event) in events.iter().enumerate() {
        if let (Some((message, write)), Some(Answer::Done(done))) = (event.write(), event.answer())
            && has_witness(write)
        {
            acknowledged(at, event, message, done, model)?;
        }
    }
    let mut attempts = Attempts::new();
    for (at, event) in events.iter().enumerate() {
        if let Some((message, write)) = event.write()
            && has_witness(write)
        {
            attempts.entry((&event.agent, message)).or_default().push(at);
        }
    }
    model.log.iter().try_for_each(|entry| committed(entry, events, &attempts, bounds))
}

fn acknowledged(
    at: usize,
    event: &Event,
    message: &str,
    done: &Done,
    model: &Model<'_>,
) -> Result<(), Violation> {
    let Some(position) = model.done(&event.agent, message) else {
        let what = format!("{message} was acknowledged, and is not in the log");
        return Err(Violation::new("lost", what).of([at]).at(event.reported_position()));
    };
    let Some(entry) = model.entry(position) else { return Ok(()) };
    let wrong = |rule, what: String| Err(Violation::new(rule, what).of([at]).at([position]));
    if event.reported_position().is_none_or(|reported| reported < position) {
        return wrong(
            "position",
            format!("{message} is at {position}, beyond the position that its answer reported"),
        );
    }
    if done.epoch.is_some_and(|epoch| epoch != entry.epoch) {
        return wrong("answer", format!("{message} has the epoch {}", entry.epoch));
    }
    let recorded = |unit: &String| entry.facts.contains(&Fact::Recorded(unit.clone()));
    if !done.made.as_ref().is_none_or(recorded) {
        return wrong("answer", format!("{message} recorded another unit"));
    }
    Ok(())
}

fn committed(
    entry: &Entry,
    events: &[Event],
    attempts: &Attempts<'_>,
    bounds: &Bounds,
) -> Result<(), Violation> {
    let ours = |fact: &&Fact| !matches!(fact, Fact::Other(_));
    let facts: Vec<&Fact> = entry.facts.iter().filter(ours).collect();
    let wrong = |rule, what: String| Violation::new(rule, what).at([entry.position]);
    let sent = (entry.actor.as_str(), entry.message.as_deref().unwrap_or_default());
    let Some(attempts) = attempts.get(&sent) else {
        // The Field makes commits on its own, but none of a kind that clients request.
        let what = format!("nobody asked for {facts:?}");
        return if facts.is_empty() { Ok(()) } else { Err(wrong("asked", what)) };
    };
    let of = attempts.iter().filter_map(|at| events.get(*at));
    let first = of.clone().map(|event| event.invoked_us).min().unwrap_or_default();
    if of.clone().all(|event| matches!(event.answer(), Some(Answer::Refused(_)))) {
        let what = "it was refused, and yet it is in the log".to_owned();
        return Err(wrong("refused", what).of(attempts.iter().copied()));
    }
    for event in of {
        let Some((_, write)) = event.write() else { continue };
        if facts != [&expected(write, &event.agent, &facts)] {
            let what = format!("{facts:?} is not what was asked for");
            return Err(wrong("asked", what).of(attempts.iter().copied()));
        }
    }
    if let Some((reported, reporter)) =
        bounds.reported_before(first).filter(|(reported, _)| *reported >= entry.position)
    {
        let what =
            format!("{} was asked for when {reported} had already been reported", entry.position);
        return Err(
            wrong("real time", what).of([reporter].into_iter().chain(attempts.iter().copied()))
        );
    }
    Ok(())
}

/// The fact that a change records in the log. The id of a unit is chosen by the server, so it is taken from the log.
fn expected(write: &Write, agent: &str, facts: &[&Fact]) -> Fact {
    match write {
        Write::Register => Fact::Registered(agent.to_owned()),
        Write::Record { .. } => match facts {
            [Fact::Recorded(unit)] => Fact::Recorded(unit.clone()),
            _ => Fact::Recorded(String::new()),
        },
        Write::Retract { unit } => Fact::Retracted(unit.clone()),
        Write::CreateTask { task } => Fact::Created(task.clone()),
        Write::Claim { task } => Fact::Claimed { task: task.clone(), agent: agent.to_owned() },
        Write::CreateDocument | Write::Put { .. } => Fact::Other(String::new()),
    }
}

/// Whether the log shows which message caused this change. It does not for documents, which are left to the search in
/// `objects`.
const fn has_witness(write: &Write) -> bool {
    !matches!(write, Write::CreateDocument | Write::Put { .. })
}
