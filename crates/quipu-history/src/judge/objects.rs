//! Splits a history into the operations on each task, each unit and each member of a document, and searches for an
//! order that explains each of them.

use std::collections::BTreeMap;

use crate::{
    event::{
        Answer, Event, INITIAL_VALUE, Member, Observed, ObservedDocument, Read, Request, Write,
    },
    judge::{
        search::{Call, OPERATIONS_MAX, Operation, Phase, Reply, is_explained},
        shrink::shrink,
        violation::Violation,
    },
};

/// A thing that operations act on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Unit(String),
    Task(String),
    /// The name of a document.
    Name(String),
    /// The note of a document.
    Note(String),
}

/// The messages that may have created a thing, each with its agent.
type Makers = Vec<(String, String)>;

/// Searches, for each task, unit and document member, for an order of its operations that explains their answers,
/// without using the log. Returns how many things there were.
///
/// # Errors
/// The first thing without such an order, with the fewest events that show the contradiction.
pub fn explain(events: &[Event]) -> Result<usize, Violation> {
    let things = things(events);
    for (thing, makers) in &things {
        let operations = operations(thing, makers, events);
        if operations.len() <= OPERATIONS_MAX && !is_explained(&operations) {
            let what = format!("no order of what was done to {thing:?} explains the answers");
            let fewest = shrink(&operations);
            return Err(Violation::new("search", what).of(fewest.iter().map(|one| one.event)));
        }
    }
    Ok(things.len())
}

/// All tasks, and all units and documents whose ids a client received.
fn things(events: &[Event]) -> BTreeMap<Thing, Makers> {
    let mut things: BTreeMap<Thing, Makers> = BTreeMap::new();
    for event in events {
        let Some((message, write)) = event.write() else { continue };
        let made = match event.answer() {
            Some(Answer::Done(done)) => done.made.clone(),
            _ => None,
        };
        let made = match (write, made) {
            (Write::CreateTask { task }, _) => vec![Thing::Task(task.clone())],
            (Write::Record { .. }, Some(unit)) => vec![Thing::Unit(unit)],
            (Write::CreateDocument, Some(document)) => {
                vec![Thing::Name(document.clone()), Thing::Note(document)]
            }
            _ => Vec::new(),
        };
        for thing in made {
            things.entry(thing).or_default().push((event.agent.clone(), message.clone()));
        }
    }
    things
}

fn operations(thing: &Thing, makers: &Makers, events: &[Event]) -> Vec<Operation> {
    let operation = |(at, event): (usize, &Event)| {
        let (call, reply) = match &event.request {
            Request::Write { message, write } => {
                (changing(thing, makers, event, message, write)?, event.answer().and_then(replied))
            }
            Request::Read(read) => {
                (Call::Read, Some(observed_reply(thing, read, event.answer()?)?))
            }
        };
        Some(Operation {
            event: at,
            invoked_us: event.invoked_us,
            returned_us: event.returned_us.filter(|_| reply.is_some()),
            min_position: event.min_position,
            position: event.reported_position(),
            call,
            reply,
        })
    };
    let (mut reads, mut all): (Vec<_>, Vec<_>) =
        events.iter().enumerate().filter_map(operation).partition(|one| one.call == Call::Read);
    // Reads change nothing, so any of them may be left out.
    reads.truncate(OPERATIONS_MAX.saturating_sub(all.len()));
    all.append(&mut reads);
    all
}

fn changing(
    thing: &Thing,
    makers: &Makers,
    event: &Event,
    message: &str,
    write: &Write,
) -> Option<Call> {
    let id = format!("{} {message}", event.agent);
    let made = || makers.iter().any(|(agent, sent)| *agent == event.agent && sent == message);
    match (write, thing) {
        (Write::Record { .. } | Write::CreateTask { .. } | Write::CreateDocument, _) => {
            made().then_some(Call::Make(id))
        }
        (Write::Retract { unit }, Thing::Unit(name)) if unit == name => Some(Call::Take(id, None)),
        (Write::Claim { task }, Thing::Task(name)) if task == name => {
            Some(Call::Take(id, Some(event.agent.clone())))
        }
        (Write::Put { document, member: Member::Name, value }, Thing::Name(name))
        | (Write::Put { document, member: Member::Note, value }, Thing::Note(name))
            if document == name =>
        {
            Some(Call::Put(id, value.clone()))
        }
        _ => None,
    }
}

/// The answer to a change, reduced to what it says about the thing.
fn replied(answer: &Answer) -> Option<Reply> {
    match answer {
        Answer::Done(_) => Some(Reply::Done),
        Answer::Refused(code) => match code.as_str() {
            "UNIT_NOT_FOUND" => Some(Reply::Absent),
            "INVALID_TRANSITION" => Some(Reply::Taken),
            _ => None,
        },
        Answer::Observed(_) | Answer::Malformed(_) => None,
    }
}

/// What the answer to a read says about the thing.
fn observed_reply(thing: &Thing, read: &Read, answer: &Answer) -> Option<Reply> {
    let Answer::Observed(seen) = answer else { return None };
    let phase = match (thing, read, seen) {
        (Thing::Unit(name), Read::Unit { unit }, Observed::Unit(seen)) if unit == name => {
            match seen {
                None => Phase::Absent,
                Some(unit) if unit.active => Phase::Open,
                Some(_) => Phase::Taken(None),
            }
        }
        (Thing::Unit(name), Read::Attune, Observed::Units(units)) => {
            if !units.contains_key(name) {
                return Some(Reply::NotOpen);
            }
            Phase::Open
        }
        (Thing::Task(name), Read::Tasks, Observed::Tasks(tasks)) => match tasks.get(name) {
            None => Phase::Absent,
            Some(None) => Phase::Open,
            Some(agent) => Phase::Taken(agent.clone()),
        },
        (
            Thing::Name(name) | Thing::Note(name),
            Read::Document { document },
            Observed::Document(seen),
        ) if document == name => {
            let said = |seen: &ObservedDocument| match thing {
                Thing::Note(_) => seen.note.clone(),
                Thing::Name(_) | Thing::Unit(_) | Thing::Task(_) => seen.name.clone(),
            };
            match seen.as_ref().map(said) {
                None => Phase::Absent,
                Some(value) if value == INITIAL_VALUE => Phase::Open,
                Some(value) => Phase::Value(value),
            }
        }
        _ => return None,
    };
    Some(Reply::Is(phase))
}
