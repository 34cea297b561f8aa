//! The Field as a decision that is half made leaves it: the state, and what the events so far change of the
//! standing of units. So a later part of one decision rests on the earlier ones.

use std::collections::BTreeMap;

use quipu_log::{Body, DraftEvent};
use quipu_wire::akashik::UnitStatus;

use super::detect::is_current;
use crate::{event::Event, rules::Decision, state::State};

/// A state, and a decision that is being made on it.
#[derive(Debug)]
pub(super) struct Standing<'state> {
    pub(super) state: &'state State,
    pub(super) events: Decision,
    changed: BTreeMap<u32, UnitStatus>,
}

impl<'state> Standing<'state> {
    pub(super) const fn new(state: &'state State) -> Self {
        Self { state, events: Vec::new(), changed: BTreeMap::new() }
    }

    /// What becomes of a unit that is there already.
    pub(super) fn status(&self, ordinal: u32) -> UnitStatus {
        let before = || self.state.units.flags(ordinal).map(|unit| unit.status);
        let now = self.changed.get(&ordinal).copied().or_else(before);
        now.unwrap_or(UnitStatus::Active)
    }

    /// Whether a unit can still be in a new conflict.
    pub(super) fn is_current(&self, ordinal: u32) -> bool {
        self.changed.get(&ordinal) != Some(&UnitStatus::Superseded)
            && is_current(self.state, ordinal)
    }

    /// Decides that something happens.
    pub(super) fn push(&mut self, event: Event, body: Option<Body>) {
        self.events.push(DraftEvent { event, body });
    }

    /// Decides that a unit which is there already stands otherwise.
    pub(super) fn change(&mut self, ordinal: u32, to: UnitStatus) {
        let from = self.status(ordinal);
        if let Some(unit) = self.state.units.details(ordinal) {
            self.push(Event::UnitStatusChanged { unit: unit.id, from, to }, None);
            self.changed.insert(ordinal, to);
        }
    }
}
