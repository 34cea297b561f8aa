//! What the hot paths work on: the same texts, commands and logs on every run, on every machine.

use quipu_core::{
    Event, Message, RoleGrant, State, UnitId,
    apply::apply,
    origin::ScriptedOrigin,
    rules::{self, Action, Command, Decision, record::RecordCommand, register::RegisterCommand},
};
use quipu_log::{Commit, Draft, Head, Header, SealedEvent};
use quipu_wire::{
    Hash,
    akashik::{MemoryType, Mode, RecordPayload, RegisterPayload},
};
use serde_json::{Value, json};

/// Who records, and who asks.
pub(crate) const AGENTS: [&str; 2] = ["author", "reader"];

/// When all of it happens.
const TIME_MS: u64 = 1_772_361_000_000;
const WORDS: [&str; 24] = [
    "order",
    "index",
    "customer",
    "region",
    "payment",
    "browser",
    "server",
    "memory",
    "build",
    "deployment",
    "approval",
    "demand",
    "delivery",
    "queue",
    "timeout",
    "region",
    "retry",
    "log",
    "disk",
    "cluster",
    "harbour",
    "fee",
    "invoice",
    "schema",
];
const SYLLABLES: [&str; 8] = ["ma", "ri", "to", "ne", "sol", "ka", "ver", "du"];

/// The next of a row of numbers (splitmix64).
const fn roll(seed: &mut u64) -> usize {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // 32 bits are enough for every choice here, and fit everywhere.
    ((mixed ^ (mixed >> 31)) & 0xffff_ffff) as usize
}

/// The sentence of a number: words that everybody uses, and names that few do.
pub(crate) fn sentence(number: usize) -> String {
    let mut seed = number as u64;
    let mut words = Vec::new();
    for _ in 0..8 + roll(&mut seed) % 5 {
        words.push(WORDS[roll(&mut seed) % WORDS.len()].to_owned());
    }
    let name: String = (0..3).map(|_| SYLLABLES[roll(&mut seed) % SYLLABLES.len()]).collect();
    words.push(name);
    words.join(" ") + "."
}

/// The payload of a RECORD, for one of ten tasks.
pub(crate) fn payload(number: usize) -> Value {
    let kind = ["finding", "observation", "decision"][number % 3];
    json!({
        "mode": "committed",
        "type": kind,
        "content": format!("{} {}", sentence(number), sentence(number + 1)),
        "intent": {"purpose": sentence(number + 2), "task_id": format!("task-{}", number % 10)},
        "confidence": {"score": 0.75, "reasoning": sentence(number + 3), "evidence": ["https://example.com/report"]},
    })
}

/// A log as it grows, with what its rules need and no storage.
#[derive(Debug)]
pub(crate) struct Growing {
    pub(crate) state: State,
    pub(crate) head: Head,
    origin: ScriptedOrigin,
}

impl Growing {
    /// A log in which the agents are registered, with those commits.
    pub(crate) fn begun() -> (Self, Vec<Commit>) {
        let (state, origin) = (State::default(), ScriptedOrigin::default());
        let mut log = Self { state, head: Head::EMPTY, origin };
        let commits = AGENTS.map(|agent| {
            let role = json!({"id": agent, "role": "engineer", "interests": ["disk", "queue"]});
            let (payload, _) = RegisterPayload::parse(role).unwrap();
            let action = Action::Register(RegisterCommand { payload, roles: RoleGrant::Every });
            log.carry_out(&command(format!("register-{agent}"), agent, action))
        });
        (log, commits.into())
    }

    /// The command of a RECORD, with everything drawn.
    pub(crate) fn record(&self, payload: Value, number: usize) -> Command {
        let (payload, _) = RecordPayload::parse(payload).unwrap();
        let unit = RecordCommand::prepare("payload".to_owned(), payload, &self.origin).unwrap();
        command(format!("message-{number}"), AGENTS[0], Action::Record(vec![unit]))
    }

    /// Decides and applies, without making a commit of it.
    pub(crate) fn follow(&mut self, command: &Command) {
        let decision = rules::decide(&self.state, command).unwrap();
        let events = decision.into_iter().map(|drafted| drafted.event).collect();
        self.happen(&command.message, events);
    }

    /// Applies events that have texts. What is applied does not depend on hashes, so nothing is sealed.
    fn happen(&mut self, message: &Message, events: Vec<Event>) {
        let sealed = |event| SealedEvent { event, body: Some(Hash::ZERO) };
        let header = Header {
            v: 1,
            position: self.state.position + 1,
            epoch: self.state.epoch + 1,
            time_ms: TIME_MS,
            actor: message.agent.clone(),
            session: None,
            request: Some(message.id.clone()),
            events: events.into_iter().map(sealed).collect(),
            prev: Hash::ZERO,
        };
        apply(&mut self.state, &header).unwrap();
    }

    /// Records a unit of which there is no text: deciding on thousands of them takes longer than all that is counted.
    pub(crate) fn grow(&mut self, number: usize) {
        let recorded = Event::UnitRecorded {
            unit: UnitId::from_bits(number as u128),
            mode: Mode::Committed,
            memory_type: [MemoryType::Finding, MemoryType::Observation, MemoryType::Decision]
                [number % 3],
            role: "engineer".to_owned(),
            task: Some(format!("task-{}", number % 10)),
            score: Some(0.75),
            relations: Vec::new(),
            session: None,
            shown: Vec::new(),
            deferred: false,
            authority: Some(10),
            key: None,
            spared: Vec::new(),
        };
        self.happen(&message(format!("message-{number}"), AGENTS[0]), vec![recorded]);
    }

    /// Decides, seals and applies.
    pub(crate) fn carry_out(&mut self, command: &Command) -> Commit {
        let decision = rules::decide(&self.state, command).unwrap();
        let draft = self.draft(command, decision);
        let (commit, header) =
            draft.seal_with_header(self.head.position + 1, self.head.hash).unwrap();
        apply(&mut self.state, &header).unwrap();
        self.head = commit.head();
        commit
    }

    /// What a decision is before it has its place.
    pub(crate) fn draft(&self, command: &Command, events: Decision) -> Draft<Event> {
        Draft {
            epoch: self.state.epoch + 1,
            time_ms: command.time_ms,
            actor: command.message.agent.clone(),
            session: None,
            request: Some(command.message.id.clone()),
            events,
        }
    }
}

/// A message with full authority.
pub(crate) fn message(id: String, agent: &str) -> Message {
    Message {
        id,
        agent: agent.to_owned(),
        session: None,
        epoch: 0,
        authority: 10,
        own_key: true,
        key: None,
    }
}

fn command(id: String, agent: &str, action: Action) -> Command {
    Command { message: message(id, agent), time_ms: TIME_MS, action }
}
