//! Which memory units a caller sees.

use quipu_core::{Reader, Sight, State, UnitId};
use quipu_wire::{akashik::UnitStatus, limits::AUTHORITY_MAX};

use crate::{Caller, Harness};

/// Whether a unit was neither taken back nor erased.
pub(crate) fn is_there(state: &State, unit: u32) -> bool {
    let flags = state.units.flags(unit);
    flags.is_some_and(|flags| flags.status != UnitStatus::Retracted && !flags.purged)
}

/// The session of a unit.
pub(crate) fn session_of(state: &State, unit: u32) -> Option<&str> {
    state.units.session_of(unit).map(|name| state.names.text(name))
}

/// What the caller sees in the session of a unit.
pub(crate) fn sight<'s>(state: &'s State, caller: &Caller, unit: u32) -> Sight<'s> {
    reader_of(state, caller, unit).sight(state)
}

pub(crate) fn reader_of(state: &State, caller: &Caller, unit: u32) -> Reader {
    if caller.authority >= AUTHORITY_MAX {
        return Reader::operator();
    }
    Reader {
        agent: Some(caller.agent.clone()),
        session: session_of(state, unit).map(str::to_owned),
        authority: caller.authority,
    }
}

impl Harness {
    /// The unit of a Memory, if the caller may see it and it was not taken back.
    pub(crate) fn unit_of_memory(&self, caller: &Caller, id: &str) -> Option<u32> {
        let unit = UnitId::parse(id)?;
        self.field.with_state(|state| {
            state
                .units
                .find(unit)
                .filter(|unit| is_there(state, *unit) && sight(state, caller, *unit).sees(*unit))
        })
    }
}
