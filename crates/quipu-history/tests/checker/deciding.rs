//! How the simulation decides changes and writes them into its log.

use quipu_history::{Answer, Done, Entry, Fact, Write};

use crate::state::State;

/// The one document of the simulation.
pub(crate) const DOCUMENT: &str = "document";

/// The log of the simulation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(pub(crate) Vec<Entry>);

impl Log {
    pub(crate) fn head(&self) -> u64 {
        u64::try_from(self.0.len()).unwrap()
    }

    /// Carries out a message on the newest state.
    pub(crate) fn decide(&mut self, agent: &str, message: &str, write: &Write) -> Answer {
        let same =
            |entry: &&Entry| entry.actor == agent && entry.message.as_deref() == Some(message);
        if let Some(entry) = self.0.iter().find(same) {
            return done(entry);
        }
        let fact = match self.rule(agent, write) {
            Ok(fact) => fact,
            Err(code) => return Answer::Refused(code.to_owned()),
        };
        let position = self.head() + 1;
        self.0.push(Entry {
            position,
            hash: String::new(),
            prev: String::new(),
            epoch: 0,
            actor: agent.to_owned(),
            message: Some(message.to_owned()),
            facts: vec![fact],
        });
        seal(&mut self.0);
        done(&self.0[self.0.len() - 1])
    }

    fn rule(&self, agent: &str, write: &Write) -> Result<Fact, &'static str> {
        let state = State::at(&self.0, self.head());
        let registered = state.agents.contains(agent);
        match write {
            Write::Register => {
                let fact = Fact::Registered(agent.to_owned());
                if registered { Err("AGENT_ID_TAKEN") } else { Ok(fact) }
            }
            _ if !registered => Err("AGENT_NOT_REGISTERED"),
            Write::Record { content } => {
                Ok(Fact::Recorded(content.strip_prefix("text of ").unwrap().to_owned()))
            }
            Write::Retract { unit } => match state.units.get(unit) {
                Some(true) => Ok(Fact::Retracted(unit.clone())),
                Some(false) => Err("INVALID_TRANSITION"),
                None => Err("UNIT_NOT_FOUND"),
            },
            Write::CreateDocument => Ok(Fact::Other("made".to_owned())),
            Write::Put { member, value, .. } => Ok(Fact::Other(format!("{member:?} {value}"))),
            Write::CreateTask { task } => Ok(Fact::Created(task.clone())),
            Write::Claim { task } => match state.tasks.get(task) {
                Some(None) => Ok(Fact::Claimed { task: task.clone(), agent: agent.to_owned() }),
                Some(Some(_)) => Err("INVALID_TRANSITION"),
                None => Err("UNIT_NOT_FOUND"),
            },
        }
    }
}

/// The answer to the message that a commit is of.
pub(crate) fn done(entry: &Entry) -> Answer {
    let epoch = Some(entry.epoch);
    Answer::Done(match &entry.facts[0] {
        Fact::Registered(_) => Done::default(),
        Fact::Recorded(unit) => Done { epoch, made: Some(unit.clone()) },
        Fact::Retracted(_) | Fact::Created(_) | Fact::Claimed { .. } => Done { epoch, made: None },
        Fact::Other(what) => {
            Done { epoch: None, made: (what == "made").then(|| DOCUMENT.to_owned()) }
        }
    })
}

/// Numbers and chains the commits anew.
pub(crate) fn seal(log: &mut [Entry]) {
    let mut prev = "start".to_owned();
    for (at, entry) in log.iter_mut().enumerate() {
        entry.position = u64::try_from(at).unwrap() + 1;
        entry.epoch = 3 * entry.position;
        entry.prev = prev;
        entry.hash = format!("{}/{:?}/{:?}", entry.position, entry.message, entry.facts);
        prev = entry.hash.clone();
    }
}
