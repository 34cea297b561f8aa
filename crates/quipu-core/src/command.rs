//! What the writer is asked to do: a message with everything observed already in it.

use std::sync::Arc;

use quipu_log::{Body, DraftEvent};
use quipu_wire::akashik::{DeregisterPayload, RegisterPayload};

use crate::{
    event::{ClockReason, Event},
    ids::{ConflictId, UnitId},
    rules::{
        compact::CompactCommand, coordinate::CoordinateCommand, detect::Found,
        handoff::HandoffCommand, harn::HarnCommand, merge::MergeCommand, record::RecordCommand,
        retract::RetractCommand, session::SessionCommand, subscribe::SubscribeCommand,
        trace::TraceCommand,
    },
    unit_words::UnitWords,
    visibility::Speaker,
};

/// Who sent a message, and with what right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The message's own id.
    pub id: String,
    /// The agent that speaks.
    pub agent: String,
    /// The session it speaks in.
    pub session: Option<String>,
    /// The sender's logical time.
    pub epoch: u64,
    /// The authority of its credential, 0 to 10.
    pub authority: u8,
}

impl Message {
    /// Who speaks, through which credential.
    #[must_use]
    pub fn speaker(&self) -> Speaker<'_> {
        Speaker { agent: &self.agent, credential: self.authority }
    }
}

/// A message that changes the Field.
#[derive(Debug, Clone)]
pub struct Command {
    /// Who sent it.
    pub message: Message,
    /// When it arrived.
    pub time_ms: u64,
    /// What it asks for.
    pub action: Action,
}

impl Command {
    /// A command that no agent sent.
    #[must_use]
    pub fn of_the_field(time_ms: u64, action: Action) -> Self {
        let message = Message {
            id: String::new(),
            agent: "system".to_owned(),
            session: None,
            epoch: 0,
            authority: quipu_wire::limits::AUTHORITY_MAX,
        };
        Self { message, time_ms, action }
    }
}

/// What a command asks for.
#[derive(Debug, Clone)]
pub enum Action {
    /// REGISTER.
    Register(RegisterPayload),
    /// DEREGISTER.
    Deregister(DeregisterPayload),
    /// RECORD, of one unit or several.
    Record(Vec<RecordCommand>),
    /// MERGE.
    Merge(Box<MergeCommand>),
    /// Not an operation of the protocol: withdraws a unit.
    Retract(Box<RetractCommand>),
    /// Not an operation: the Field found units that disagree.
    NoteConflicts(Vec<Found>),
    /// Not an operation: vectors arrived for units, by ordinal, that may have waited for them.
    NoteEnriched(Vec<u32>),
    /// SESSION.
    Session(Box<SessionCommand>),
    /// COORDINATE.
    Coordinate(Box<CoordinateCommand>),
    /// HANDOFF.
    Handoff(Box<HandoffCommand>),
    /// A write of the Harn protocol.
    Harn(Box<HarnCommand>),
    /// Not an operation: leases may have run out by the command's time.
    ExpireLeases,
    /// COMPACT.
    Compact(Box<CompactCommand>),
    /// SUBSCRIBE, where it changes something.
    Subscribe(SubscribeCommand),
    /// Not an operation: an agent was shown something by ATTUNE, and that is traced.
    TraceAttune(Box<TraceCommand>),
    /// Not an operation: tells the log how far the clock has come.
    AdvanceClock(ClockReason),
}

/// The ids and the body that a RECORD may need, drawn before it is decided.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The unit's id.
    pub unit: UnitId,
    /// One id per `contradicts` relation.
    pub conflicts: Vec<ConflictId>,
    /// The unit's free text, sealed with its salt.
    pub body: Body,
    /// The free text of each conflict, in the order of `conflicts`.
    pub conflict_bodies: Vec<Body>,
    /// The unit's words, for the index.
    pub words: Arc<UnitWords>,
}

/// The events of a decision, in order.
pub type Decision = Vec<DraftEvent<Event>>;
