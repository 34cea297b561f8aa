//! A Field of the simulation at one position, and what it shows.

use std::collections::{BTreeMap, BTreeSet};

use quipu_history::{Entry, Fact, INITIAL_VALUE, Observed, ObservedDocument, ObservedUnit, Read};

/// The Field.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) agents: BTreeSet<String>,
    pub(crate) units: BTreeMap<String, bool>,
    pub(crate) tasks: BTreeMap<String, Option<String>>,
    pub(crate) document: Option<ObservedDocument>,
}

impl State {
    /// After the commits up to a position.
    pub(crate) fn at(log: &[Entry], position: u64) -> Self {
        let mut state = Self::default();
        let until = usize::try_from(position).unwrap();
        for fact in log[..until].iter().flat_map(|entry| &entry.facts) {
            match fact {
                Fact::Registered(agent) => drop(state.agents.insert(agent.clone())),
                Fact::Recorded(unit) => drop(state.units.insert(unit.clone(), true)),
                Fact::Retracted(unit) => drop(state.units.insert(unit.clone(), false)),
                Fact::Created(task) => drop(state.tasks.insert(task.clone(), None)),
                Fact::Claimed { task, agent } => {
                    drop(state.tasks.insert(task.clone(), Some(agent.clone())));
                }
                Fact::Other(what) => state.change_document(what),
            }
        }
        state
    }

    fn change_document(&mut self, what: &str) {
        let [name, note] = [INITIAL_VALUE.to_owned(), INITIAL_VALUE.to_owned()];
        let document = self.document.get_or_insert(ObservedDocument { name, note });
        match what.split_once(' ') {
            Some(("Name", value)) => value.clone_into(&mut document.name),
            Some(("Note", value)) => value.clone_into(&mut document.note),
            _ => {}
        }
    }
}

/// The text of a unit.
pub(crate) fn content(unit: &str) -> String {
    format!("text of {unit}")
}

/// What a node at this position answers.
pub(crate) fn observed_at(read: &Read, log: &[Entry], position: u64) -> Observed {
    let state = State::at(log, position);
    let at = |position: u64| {
        let entry = usize::try_from(position).unwrap().checked_sub(1).map(|at| &log[at]);
        (position, entry.map_or_else(String::new, |entry| entry.hash.clone()))
    };
    let count = |count: usize| u64::try_from(count).unwrap();
    match read {
        _ if position == 0 => Observed::Nothing,
        Read::Unit { unit } => Observed::Unit(
            state
                .units
                .get(unit)
                .map(|active| ObservedUnit { content: content(unit), active: *active }),
        ),
        Read::Log { from, limit } => Observed::Log {
            commits: (*from..from + limit).take_while(|one| *one <= position).map(at).collect(),
            head: at(position),
        },
        Read::Agents => Observed::Agents(state.agents),
        Read::Attune => {
            let active = state.units.into_iter().filter(|(_, active)| *active);
            Observed::Units(active.map(|(unit, _)| (unit.clone(), content(&unit))).collect())
        }
        Read::Tasks => Observed::Tasks(state.tasks),
        Read::Document { .. } => Observed::Document(state.document),
        Read::Status => Observed::Status {
            head: at(position),
            agents: count(state.agents.len()),
            units: count(state.units.len()),
        },
    }
}
