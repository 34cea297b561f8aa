//! Takes a history apart into the operations on each task and each unit, and has them explained.

use std::collections::BTreeMap;

use crate::event::{Answer, Event, Read, Request, Seen, Write};
use crate::search::{Call, OPERATIONS_MAX, Operation, Phase, Reply, is_explained};
use crate::shrink::shrink;
use crate::violation::Violation;

/// Looks for an order of what was done to each task and to each unit that explains the answers, without a log; answers how
/// many there were.
///
/// # Errors
/// The first that has none, with the fewest events that show it.
pub fn explain(events: &[Event]) -> Result<usize, Violation> {
    let things = things(events);
    for (name, makers) in &things {
        let operations = operations(name, makers, events);
        if operations.len() <= OPERATIONS_MAX && !is_explained(&operations) {
            let what = format!("no order of what was done to {name} explains the answers");
            let shown = shrink(&operations);
            return Err(Violation::new("search", what).of(shown.iter().map(|one| one.event)));
        }
    }
    Ok(things.len())
}

/// The tasks and the units whose ids somebody was told, each with the messages that may have made it.
fn things(events: &[Event]) -> BTreeMap<String, Vec<(String, String)>> {
    let mut things: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for event in events {
        let Some((message, write)) = event.write() else { continue };
        let sent = (event.agent.clone(), message.clone());
        let thing = match (write, event.answer()) {
            (Write::CreateTask { task }, _) => Some(task.clone()),
            (Write::Record { .. }, Some(Answer::Done(done))) => done.unit.clone(),
            _ => None,
        };
        if let Some(thing) = thing {
            things.entry(thing).or_default().push(sent);
        }
    }
    things
}

fn operations(name: &str, makers: &[(String, String)], events: &[Event]) -> Vec<Operation> {
    let operation = |(at, event): (usize, &Event)| {
        let (call, reply) = match &event.request {
            Request::Write { message, write } => {
                (changing(name, makers, event, message, write)?, event.answer().and_then(replied))
            }
            Request::Read(read) => (Call::Look, Some(looked(name, read, event.answer()?)?)),
        };
        Some(Operation {
            event: at,
            invoked_us: event.invoked_us,
            returned_us: event.returned_us.filter(|_| reply.is_some()),
            min_position: event.min_position,
            told: event.told(),
            call,
            reply,
        })
    };
    let (mut looks, mut all): (Vec<_>, Vec<_>) =
        events.iter().enumerate().filter_map(operation).partition(|one| one.call == Call::Look);
    // Looks change nothing, so any of them may be left out.
    looks.truncate(OPERATIONS_MAX.saturating_sub(all.len()));
    all.append(&mut looks);
    all
}

fn changing(
    name: &str,
    makers: &[(String, String)],
    event: &Event,
    message: &str,
    write: &Write,
) -> Option<Call> {
    let id = || format!("{} {message}", event.agent);
    match write {
        Write::Register => None,
        Write::Record { .. } | Write::CreateTask { .. } => {
            let made = makers.iter().any(|(agent, sent)| *agent == event.agent && sent == message);
            made.then(|| Call::Make(id()))
        }
        Write::Retract { unit } => (unit == name).then(|| Call::Take(id(), None)),
        Write::Claim { task } => {
            (task == name).then(|| Call::Take(id(), Some(event.agent.clone())))
        }
    }
}

/// The answer to a change, as far as it is about the thing.
fn replied(answer: &Answer) -> Option<Reply> {
    match answer {
        Answer::Done(_) => Some(Reply::Done),
        Answer::Refused(code) => match code.as_str() {
            "UNIT_NOT_FOUND" => Some(Reply::Absent),
            "INVALID_TRANSITION" => Some(Reply::Taken),
            _ => None,
        },
        Answer::Seen(_) | Answer::Odd(_) => None,
    }
}

/// What a question showed of the thing.
fn looked(name: &str, read: &Read, answer: &Answer) -> Option<Reply> {
    let Answer::Seen(seen) = answer else { return None };
    match (read, seen) {
        (Read::Unit { unit }, Seen::Unit(seen)) if unit == name => Some(Reply::Is(match seen {
            None => Phase::Absent,
            Some(unit) if unit.active => Phase::Open,
            Some(_) => Phase::Taken(None),
        })),
        // Tasks are not among the units, whatever is answered.
        (Read::Attune, Seen::Units(units)) if name.starts_with("mem-") => {
            let open = units.contains_key(name);
            Some(if open { Reply::Is(Phase::Open) } else { Reply::NotOpen })
        }
        (Read::Tasks, Seen::Tasks(tasks)) if !name.starts_with("mem-") => {
            Some(Reply::Is(match tasks.get(name) {
                None => Phase::Absent,
                Some(None) => Phase::Open,
                Some(agent) => Phase::Taken(agent.clone()),
            }))
        }
        _ => None,
    }
}
