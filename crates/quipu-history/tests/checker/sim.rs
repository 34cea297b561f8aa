//! Clients of a sound cluster, simulated: each operation is asked, decided and answered at moments of its own, nodes lag
//! behind, and some answers are lost.

use quipu_history::{Answer, Dice, Event, Member, Outcome, Read, Request, Write};

use crate::{
    deciding::{DOCUMENT, Log},
    state::{State, content, observed_at},
};

const CLIENTS: usize = 4;
const NODES: usize = 3;
const OPERATIONS: usize = 25;

/// What was seen, and the log.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) events: Vec<Event>,
    pub(crate) log: Log,
}

/// When one operation of a client is asked, decided and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moments {
    decided: u64,
    client: usize,
    invoked: u64,
    returned: u64,
}

#[derive(Debug)]
struct Simulation {
    dice: Dice,
    log: Log,
    nodes: [u64; NODES],
    reported: [u64; CLIENTS],
    sent: Vec<Vec<Request>>,
    events: Vec<Event>,
}

/// A history from a seed.
pub(crate) fn simulate(seed: u64) -> History {
    let mut dice = Dice::new(seed);
    let mut moments = Vec::new();
    for client in 0..CLIENTS {
        let mut now = 0;
        for _ in 0..OPERATIONS {
            let invoked = now + 1 + dice.below(60);
            let decided = invoked + 1 + dice.below(80);
            let returned = decided + 1 + dice.below(80);
            moments.push(Moments { decided, client, invoked, returned });
            now = returned;
        }
    }
    moments.sort_unstable();
    let mut simulation = Simulation {
        dice,
        log: Log::default(),
        nodes: [0; NODES],
        reported: [0; CLIENTS],
        sent: vec![Vec::new(); CLIENTS],
        events: Vec::new(),
    };
    moments.into_iter().for_each(|moments| simulation.step(moments));
    simulation.events.sort_by_key(|event| event.invoked_us);
    History { events: simulation.events, log: simulation.log }
}

impl Simulation {
    fn step(&mut self, moments: Moments) {
        let Moments { client, invoked, returned, .. } = moments;
        let (agent, node) = (format!("agent-{client}"), self.dice.index(NODES));
        let request = self.draw(client);
        let mut min_position = None;
        let outcome = match &request {
            Request::Write { message, write } => {
                self.sent[client].push(request.clone());
                self.change(&agent, node, message, write)
            }
            Request::Read(read) => {
                min_position = self.dice.percent(60).then_some(self.reported[client]);
                self.answer(node, read, min_position.unwrap_or_default())
            }
        };
        let mut returned_us = None;
        if let Outcome::Answered { position, .. } = &outcome {
            self.reported[client] = self.reported[client].max(position.unwrap());
            returned_us = Some(returned);
        }
        let invoked_us = invoked;
        self.events.push(Event {
            client,
            agent,
            node,
            invoked_us,
            returned_us,
            min_position,
            request,
            outcome,
        });
    }

    /// A change is decided on the newest state; its answer may be lost, before or after it was done.
    fn change(&mut self, agent: &str, node: usize, message: &str, write: &Write) -> Outcome {
        let first = matches!(write, Write::Register | Write::CreateDocument);
        let lost = !first && self.dice.percent(15);
        if lost && self.dice.percent(50) {
            return Outcome::Unknown("it never came".to_owned());
        }
        let answer = self.log.decide(agent, message, write);
        self.nodes[node] = self.log.head();
        if lost {
            return Outcome::Unknown("its answer was lost".to_owned());
        }
        Outcome::Answered { position: Some(self.nodes[node]), answer }
    }

    fn answer(&mut self, node: usize, read: &Read, min: u64) -> Outcome {
        let at = self.between(self.nodes[node].max(min));
        self.nodes[node] = self.between(at);
        let answer = Answer::Observed(observed_at(read, &self.log.0, at));
        Outcome::Answered { position: Some(self.nodes[node]), answer }
    }

    fn between(&mut self, low: u64) -> u64 {
        low + self.dice.below(self.log.head() - low + 1)
    }

    fn draw(&mut self, client: usize) -> Request {
        let number = self.sent[client].len();
        let message = format!("m{number}");
        let near = |dice: &mut Dice| dice.index(CLIENTS);
        if number == 0 {
            return Request::Write { message, write: Write::Register };
        }
        if client == 0 && number == 1 {
            return Request::Write { message, write: Write::CreateDocument };
        }
        let of = near(&mut self.dice);
        let unit = format!("mem-{of}-{}", self.dice.index(6));
        let task = format!("task-{of}-{}", self.dice.index(6));
        let read = match self.dice.below(15) {
            0 => return self.sent[client][self.dice.index(number)].clone(),
            1..8 => {
                let own = format!("{client}-{}", self.count(client));
                let write = match self.dice.below(14) {
                    10.. if State::at(&self.log.0, self.log.head()).document.is_some() => {
                        let member =
                            if self.dice.percent(50) { Member::Name } else { Member::Note };
                        let value = format!("{client}-{number}");
                        Write::Put { document: DOCUMENT.to_owned(), member, value }
                    }
                    0..3 => Write::Record { content: content(&format!("mem-{own}")) },
                    3..5 => Write::CreateTask { task: format!("task-{own}") },
                    5..7 => Write::Retract { unit },
                    _ => Write::Claim { task },
                };
                return Request::Write { message, write };
            }
            8 => Read::Unit { unit },
            9 => Read::Log { from: 1 + self.dice.below(20), limit: 1 + self.dice.below(20) },
            10 => Read::Agents,
            11 => Read::Attune,
            12 => Read::Tasks,
            13 => Read::Document { document: DOCUMENT.to_owned() },
            _ => Read::Status,
        };
        Request::Read(read)
    }

    /// How many things a client has made, or tried to.
    fn count(&self, client: usize) -> usize {
        let made = |request: &&Request| {
            let Request::Write { write, .. } = request else { return false };
            matches!(write, Write::Record { .. } | Write::CreateTask { .. })
        };
        self.sent[client].iter().filter(made).count()
    }
}
