//! Which memory units a caller sees.

use quipu_core::{State, UnitId};
use quipu_wire::akashik::UnitStatus;

use crate::{Caller, Harness};

/// Whether a unit was neither taken back nor erased.
pub(crate) fn is_there(state: &State, unit: u32) -> bool {
    let flags = state.units.flags(unit);
    flags.is_some_and(|flags| flags.status != UnitStatus::Retracted && !flags.purged)
}

pub(crate) fn session_of(state: &State, unit: u32) -> Option<&str> {
    state.units.session_of(unit).map(|name| state.names.text(name))
}

impl Harness {
    /// The unit of a Memory, if the caller may see it and it was not taken back.
    pub(crate) fn unit_of_memory(&self, caller: &Caller, id: &str) -> Option<u32> {
        let (unit, reader) = (UnitId::parse(id)?, caller.reader());
        self.field.with_state(|state| {
            let unit = state.units.find(unit).filter(|unit| is_there(state, *unit))?;
            reader.sight(state).sees(unit).then_some(unit)
        })
    }
}
