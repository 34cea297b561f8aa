//! One client: chooses requests at random, sends them to some node, and records what it observes. After an unknown
//! outcome it sends the same message again, usually to another node.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use crate::{
    clock::{Clock, pause},
    event::{Answer, Event, Member, Outcome, Read, Request, Write},
    http,
    load::{board::Board, dice::Dice, wire, workload::Workload},
};

/// The most attempts to send a message.
const ATTEMPTS_MAX: u32 = 4;
/// The most attempts to send the first messages, without which the client cannot work.
const FIRST_ATTEMPTS_MAX: u32 = 100;
/// The longest pause before the next request.
const THINKING_MAX_MS: u64 = 25;
/// The pause after an unknown outcome. Without it, a client whose requests fail at once would soon have used up its
/// operations.
const UNKNOWN_PAUSE: Duration = Duration::from_millis(40);
/// The longest page of the log that a client requests.
const PAGE_MAX: u64 = 40;

/// A client of the run.
#[derive(Debug)]
pub(crate) struct Client<'a> {
    load: &'a Workload,
    number: usize,
    agent: String,
    board: &'a Board,
    clock: &'a Clock,
    dice: Dice,
    node: usize,
    /// The greatest position that an answer reported to it.
    position: u64,
    /// How many messages it has created, for their ids.
    messages: u64,
    /// Its last write.
    last: Option<Request>,
    events: Vec<Event>,
}

impl<'a> Client<'a> {
    pub(crate) fn new(
        load: &'a Workload,
        number: usize,
        board: &'a Board,
        clock: &'a Clock,
    ) -> Self {
        let part = u64::try_from(number).unwrap_or_default() + 1;
        let mut dice = Dice::for_part(load.seed, part);
        Self {
            load,
            number,
            agent: format!("agent-{number}"),
            board,
            clock,
            node: dice.index(load.nodes.len()),
            dice,
            position: 0,
            messages: 0,
            last: None,
            events: Vec::new(),
        }
    }

    /// Registers the agent. The first client also creates the document that all clients change.
    pub(crate) fn enter(&mut self) {
        self.repeat_until_answered(Write::Register);
        if self.number == 0 {
            self.repeat_until_answered(Write::CreateDocument);
        }
    }

    fn repeat_until_answered(&mut self, write: Write) {
        let request = self.message(write);
        for _ in 0..FIRST_ATTEMPTS_MAX {
            if self.send(&request, None) {
                break;
            }
            self.move_on();
        }
    }

    /// Sends requests until the time is up.
    pub(crate) fn work(&mut self, began: &Clock) {
        let operations_max = self.events.len() + self.load.operations_max;
        while !began.is_past(self.load.duration) && self.events.len() < operations_max {
            pause(Duration::from_millis(self.dice.below(THINKING_MAX_MS)));
            if self.dice.percent(40) {
                self.move_on();
            }
            let request = self.draw();
            match &request {
                Request::Write { .. } => self.change(request),
                Request::Read(_) => {
                    let from = self.dice.percent(65).then_some(self.position);
                    self.send(&request, from);
                }
            }
        }
    }

    /// What the client observed.
    pub(crate) fn into_events(self) -> Vec<Event> {
        self.events
    }

    fn move_on(&mut self) {
        self.node = self.dice.index(self.load.nodes.len());
    }

    /// Chooses the next request.
    fn draw(&mut self) -> Request {
        let drawn = match self.dice.below(100) {
            0..18 => None,
            18..28 => self.board.document(&mut self.dice).map(|document| self.draw_put(document)),
            28..34 => self.last.clone(),
            34..46 => {
                let task = format!("task-{}-{}", self.number, self.messages);
                self.board.add_task(&task);
                Some(self.message(Write::CreateTask { task }))
            }
            46..62 => {
                let task = self.board.task(&mut self.dice);
                task.map(|task| self.message(Write::Claim { task }))
            }
            62..72 => {
                let unit = self.board.unit(&mut self.dice);
                unit.map(|unit| self.message(Write::Retract { unit }))
            }
            72..78 => {
                self.board.unit(&mut self.dice).map(|unit| Request::Read(Read::Unit { unit }))
            }
            78..83 => {
                let from = 1 + self.dice.below(self.position.max(1));
                let limit = 1 + self.dice.below(PAGE_MAX);
                Some(Request::Read(Read::Log { from, limit }))
            }
            83..85 => Some(Request::Read(Read::Agents)),
            85..91 => Some(Request::Read(Read::Attune)),
            91..94 => Some(Request::Read(Read::Tasks)),
            94..98 => {
                let document = self.board.document(&mut self.dice);
                document.map(|document| Request::Read(Read::Document { document }))
            }
            _ => Some(Request::Read(Read::Status)),
        };
        drawn.unwrap_or_else(|| {
            let content = format!("Cord {} of agent {}", self.dice.next(), self.number);
            self.message(Write::Record { content })
        })
    }

    fn draw_put(&mut self, document: String) -> Request {
        let member = if self.dice.percent(50) { Member::Name } else { Member::Note };
        let value = format!("{}-{}", self.number, self.messages);
        self.message(Write::Put { document, member, value })
    }

    fn message(&mut self, write: Write) -> Request {
        self.messages += 1;
        Request::Write { message: format!("m{}", self.messages), write }
    }

    /// Sends a change until it is answered, or stops trying, so that its outcome stays unknown.
    fn change(&mut self, request: Request) {
        for _ in 0..ATTEMPTS_MAX {
            if self.send(&request, None) || self.dice.percent(25) {
                break;
            }
            self.move_on();
        }
        self.last = Some(request);
    }

    /// Shares the id of what was created with the other clients.
    fn publish(&self, request: &Request, made: &str) {
        match request {
            Request::Write { write: Write::CreateDocument, .. } => self.board.add_document(made),
            Request::Write { .. } | Request::Read(_) => self.board.add_unit(made),
        }
    }

    /// Sends a request once and records the event. Returns whether an answer came.
    fn send(&mut self, request: &Request, min_position: Option<u64>) -> bool {
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let node = self.load.nodes.get(self.node).copied().unwrap_or(nowhere);
        let message = wire::http_request(&self.load.field, &self.agent, min_position, request);
        let invoked_us = self.clock.micros();
        let reply = http::send(node, &message, self.load.patience);
        let returned_us = self.clock.micros();
        let outcome = match reply {
            Ok(reply) => wire::outcome(&self.agent, request, reply),
            Err(error) => Outcome::Unknown(error.to_string()),
        };
        if let Outcome::Answered { position, answer } = &outcome {
            self.position = self.position.max(position.unwrap_or_default());
            if let Answer::Done(done) = answer
                && let Some(made) = &done.made
            {
                self.publish(request, made);
            }
        }
        let answered = matches!(outcome, Outcome::Answered { .. });
        if !answered {
            pause(UNKNOWN_PAUSE);
        }
        self.events.push(Event {
            client: self.number,
            agent: self.agent.clone(),
            node: self.node,
            invoked_us,
            returned_us: answered.then_some(returned_us),
            min_position,
            request: request.clone(),
            outcome,
        });
        answered
    }
}
