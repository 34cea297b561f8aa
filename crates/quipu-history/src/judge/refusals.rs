//! Checks refused changes. A change is decided on the newest state, so its refusal must be right at a position that
//! is not before any position reported earlier.

use crate::{
    event::{Answer, Event, Write},
    judge::{
        bounds::Bounds,
        model::{Model, State},
        violation::Violation,
    },
};

/// Checks every refusal of a change.
pub(crate) fn check(events: &[Event], model: &Model<'_>, bounds: &Bounds) -> Result<(), Violation> {
    for (at, event) in events.iter().enumerate() {
        let (Some((message, write)), Some(Answer::Refused(code))) = (event.write(), event.answer())
        else {
            continue;
        };
        let reported = bounds.reported_before(event.invoked_us);
        let low = reported.map_or(0, |(position, _)| position);
        let high = event.reported_position().unwrap_or_else(|| model.head());
        let done = model.done(&event.agent, message);
        let is_right = |position: u64| {
            done.is_none_or(|done| done > position)
                && model.state(position).is_some_and(|state| holds(code, write, event, state))
        };
        if !(low..=high).any(is_right) {
            let what = format!("{code} is wrong in every state from {low} to {high}");
            let reporter = reported.map(|(_, reporter)| reporter);
            let positions = [done, Some(low)].into_iter().flatten();
            return Err(Violation::new("refusal", what)
                .of(reporter.into_iter().chain([at]))
                .at(positions));
        }
    }
    Ok(())
}

/// Whether this code is the right answer to the change in this state.
fn holds(code: &str, write: &Write, event: &Event, state: &State) -> bool {
    let registered = state.agents.contains(&event.agent);
    match (code, write) {
        ("AGENT_NOT_REGISTERED", _) => !registered,
        ("AGENT_ID_TAKEN", Write::Register) => registered,
        ("INVALID_TRANSITION", Write::Retract { unit }) => {
            registered && state.units.get(unit).is_some_and(|unit| !unit.active)
        }
        ("UNIT_NOT_FOUND", Write::Retract { unit }) => {
            registered && !state.units.contains_key(unit)
        }
        ("INVALID_TRANSITION", Write::Claim { task }) => {
            registered && state.tasks.get(task).is_some_and(Option::is_some)
        }
        ("UNIT_NOT_FOUND", Write::Claim { task }) => registered && !state.tasks.contains_key(task),
        _ => false,
    }
}
