//! Checks the answers to reads. Each must be the state at one position that is not before the requested minimum, not
//! before a position that the same node had already reported, and not after the position that the answer reports.

use crate::{
    event::{Answer, Event, Observed, Read},
    judge::{
        bounds::Bounds,
        model::{Model, State},
        violation::Violation,
    },
};

/// Checks every answer to a read.
pub(crate) fn check(events: &[Event], model: &Model<'_>, bounds: &Bounds) -> Result<(), Violation> {
    for (at, event) in events.iter().enumerate() {
        let (Some(read), Some(answer)) = (event.read(), event.answer()) else { continue };
        let of_node = bounds.node_reported_before(event.node, event.invoked_us);
        let asked = event.min_position.unwrap_or_default();
        let low = asked.max(of_node.map_or(0, |(position, _)| position));
        let high = event.reported_position().unwrap_or_else(|| model.head());
        let is_right = |position: u64| match answer {
            Answer::Observed(seen) => is_state_at(read, seen, position, low, model),
            Answer::Refused(code) => {
                let state = model.state(position);
                code == "AGENT_NOT_REGISTERED"
                    && state.is_some_and(|state| !state.agents.contains(&event.agent))
            }
            Answer::Done(_) | Answer::Malformed(_) => false,
        };
        if !(low..=high).any(is_right) {
            let what = format!("the answer is the state at no position from {low} to {high}");
            let reporter = of_node.map(|(_, reporter)| reporter).filter(|_| low > asked);
            return Err(Violation::new("read", what)
                .of(reporter.into_iter().chain([at]))
                .at([low, high]));
        }
    }
    Ok(())
}

fn is_state_at(read: &Read, seen: &Observed, position: u64, low: u64, model: &Model<'_>) -> bool {
    let Some(state) = model.state(position) else { return false };
    let is_head = |head: &(u64, String)| {
        head.0 == position && model.entry(position).is_none_or(|entry| entry.hash == head.1)
    };
    match (read, seen) {
        (_, Observed::Nothing) => position == 0,
        // The log has no contents of documents; `objects` checks them.
        (Read::Document { .. }, Observed::Document(_)) => true,
        (Read::Unit { unit }, Observed::Unit(seen)) => {
            let there = state.units.get(unit).map(|unit| (&unit.content, unit.active));
            there == seen.as_ref().map(|seen| (&seen.content, seen.active))
        }
        (Read::Log { from, limit }, Observed::Log { commits, head }) => {
            let last = from.saturating_add(*limit).saturating_sub(1);
            is_head(head) && is_page(commits, *from, last, model) && {
                // The page must reach as far as the log did at the least.
                let none = from.saturating_sub(1);
                let reaches = commits.last().map_or(none, |(at, _)| *at);
                reaches <= head.0.max(none) && reaches >= low.min(last)
            }
        }
        (Read::Agents, Observed::Agents(agents)) => *agents == state.agents,
        (Read::Attune, Observed::Units(units)) => active(state).eq(units.iter()),
        (Read::Tasks, Observed::Tasks(tasks)) => *tasks == state.tasks,
        (Read::Status, Observed::Status { head, agents, units }) => {
            let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
            is_head(head)
                && *agents == count(state.agents.len())
                && *units == count(state.units.len())
        }
        _ => false,
    }
}

fn active(state: &State) -> impl Iterator<Item = (&String, &String)> {
    let active = state.units.iter().filter(|(_, unit)| unit.active);
    active.map(|(id, unit)| (id, &unit.content))
}

fn is_page(commits: &[(u64, String)], from: u64, last: u64, model: &Model<'_>) -> bool {
    let dense = commits.iter().zip(from..=last).all(|((position, hash), expected)| {
        let entry = model.entry(*position);
        *position == expected && entry.is_some_and(|entry| entry.hash == *hash)
    });
    let room = last.saturating_sub(from).saturating_add(1);
    dense && u64::try_from(commits.len()).is_ok_and(|count| count <= room)
}
