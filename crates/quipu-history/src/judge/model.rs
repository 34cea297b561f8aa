//! The state of a Field at each position, computed from the log by rules that share no code with the server.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    event::{Event, Write},
    judge::{
        log::{Entry, Fact},
        violation::Violation,
    },
};

/// A Field at one position, as far as the clients of a run can see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) agents: BTreeSet<String>,
    pub(crate) units: BTreeMap<String, Unit>,
    pub(crate) tasks: BTreeMap<String, Option<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) content: String,
    pub(crate) active: bool,
}

/// The log with the state after each of its commits.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub(crate) log: &'a [Entry],
    /// The state at each position, from 0 where nothing exists.
    states: Vec<State>,
    /// The position at which each message was carried out, by agent and message id.
    done: BTreeMap<(&'a str, &'a str), u64>,
}

impl<'a> Model<'a> {
    /// Computes the states of a log.
    ///
    /// # Errors
    /// If the log is not a chain, carries out a message twice, or contains a change that its state forbids.
    pub(crate) fn of(log: &'a [Entry], events: &[Event]) -> Result<Self, Violation> {
        let contents = contents(events);
        let mut model = Self { log, states: vec![State::default()], done: BTreeMap::new() };
        let mut state = State::default();
        for (at, entry) in log.iter().enumerate() {
            follows(at.checked_sub(1).and_then(|before| log.get(before)), entry)?;
            if let Some(message) = &entry.message {
                let before = model.done.insert((&entry.actor, message), entry.position);
                if let Some(before) = before {
                    let what = format!("{message} of {} was carried out twice", entry.actor);
                    return Err(Violation::new("once", what).at([before, entry.position]));
                }
            }
            let sent = (entry.actor.as_str(), entry.message.as_deref().unwrap_or_default());
            let content = contents.get(&sent).copied().unwrap_or_default();
            for fact in &entry.facts {
                apply(&mut state, fact, content)
                    .map_err(|what| Violation::new("rules", what).at([entry.position]))?;
            }
            model.states.push(state.clone());
        }
        Ok(model)
    }

    /// The last position.
    pub(crate) fn head(&self) -> u64 {
        self.log.last().map_or(0, |entry| entry.position)
    }

    /// The state at a position of the log.
    pub(crate) fn state(&self, position: u64) -> Option<&State> {
        self.states.get(usize::try_from(position).ok()?)
    }

    /// The commit at a position.
    pub(crate) fn entry(&self, position: u64) -> Option<&'a Entry> {
        self.log.get(usize::try_from(position.checked_sub(1)?).ok()?)
    }

    /// The position at which a message was carried out, if it was.
    pub(crate) fn done(&self, agent: &str, message: &str) -> Option<u64> {
        self.done.get(&(agent, message)).copied()
    }
}

/// The content that each RECORD message contains, by agent and message id.
fn contents(events: &[Event]) -> BTreeMap<(&str, &str), &str> {
    let texts = events.iter().filter_map(|event| match event.write()? {
        (message, Write::Record { content }) => {
            Some(((event.agent.as_str(), message.as_str()), content.as_str()))
        }
        _ => None,
    });
    texts.collect()
}

fn follows(before: Option<&Entry>, entry: &Entry) -> Result<(), Violation> {
    let (position, epoch, hash) =
        before.map_or((0, 0, None), |before| (before.position, before.epoch, Some(&before.hash)));
    let linked = hash.is_none_or(|hash| *hash == entry.prev);
    if position + 1 == entry.position && epoch < entry.epoch && linked {
        return Ok(());
    }
    let what = format!("{} does not follow {position}", entry.position);
    Err(Violation::new("chain", what).at([position, entry.position]))
}

fn apply(state: &mut State, fact: &Fact, content: &str) -> Result<(), String> {
    match fact {
        Fact::Registered(agent) => {
            let new = state.agents.insert(agent.clone());
            new.then_some(()).ok_or_else(|| format!("{agent} took part already"))
        }
        Fact::Recorded(unit) => {
            let made = Unit { content: content.to_owned(), active: true };
            let before = state.units.insert(unit.clone(), made);
            before.map_or(Ok(()), |_| Err(format!("{unit} was there already")))
        }
        Fact::Retracted(unit) => {
            let active = state.units.get_mut(unit).filter(|unit| unit.active);
            let unit = active.ok_or_else(|| format!("{unit} was not active"))?;
            unit.active = false;
            Ok(())
        }
        Fact::Created(task) => {
            let before = state.tasks.insert(task.clone(), None);
            before.map_or(Ok(()), |_| Err(format!("{task} was there already")))
        }
        Fact::Claimed { task, agent } => match state.tasks.get_mut(task) {
            Some(free @ None) => {
                *free = Some(agent.clone());
                Ok(())
            }
            Some(Some(other)) => Err(format!("{agent} won {task}, which {other} had")),
            None => Err(format!("{agent} won {task}, which there is not")),
        },
        Fact::Other(_) => Ok(()),
    }
}
