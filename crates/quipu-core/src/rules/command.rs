//! What the writer is asked to do: a message with everything observed already in it.

use quipu_wire::akashik::DeregisterPayload;

use super::{
    compact::CompactCommand, coordinate::CoordinateCommand, detect::Found, handoff::HandoffCommand,
    harn::HarnCommand, least_authority::LeastAuthorityCommand, merge::MergeCommand,
    record::RecordCommand, register::RegisterCommand, restore::RestoreCommand,
    retract::RetractCommand, session::SessionCommand, subscribe::SubscribeCommand,
    trace::TraceCommand,
};
use crate::{event::ClockReason, message::Message, searchable::Searchable};

#[derive(Debug, Clone)]
pub struct Command {
    pub message: Message,
    /// When it arrived.
    pub time_ms: u64,
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
            own_key: true,
            key: None,
        };
        Self { message, time_ms, action }
    }
}

#[derive(Debug, Clone)]
pub enum Action {
    Register(RegisterCommand),
    Deregister(DeregisterPayload),
    /// RECORD, of one unit or several.
    Record(Vec<RecordCommand>),
    Merge(Box<MergeCommand>),
    /// Not an operation of the protocol: withdraws a unit.
    Retract(Box<RetractCommand>),
    /// Not an operation of the protocol: brings units back.
    Restore(Box<RestoreCommand>),
    /// Not an operation of the protocol: says which authority units of a type take.
    SetLeastAuthority(Box<LeastAuthorityCommand>),
    /// Not an operation: the Field found units that disagree.
    NoteConflicts(Vec<Found>),
    /// Not an operation: vectors arrived for units, by ordinal, that may have waited for them.
    NoteEnriched(Vec<u32>),
    Session(Box<SessionCommand>),
    Coordinate(Box<CoordinateCommand>),
    Handoff(Box<HandoffCommand>),
    /// A write of the Harn protocol.
    Harn(Box<HarnCommand>),
    /// Not an operation: leases may have run out by the command's time.
    ExpireLeases,
    Compact(Box<CompactCommand>),
    /// SUBSCRIBE, where it changes something.
    Subscribe(SubscribeCommand),
    /// Not an operation: an agent was shown something by ATTUNE, and that is traced.
    TraceAttune(Box<TraceCommand>),
    /// Not an operation: tells the log how far the clock has come.
    AdvanceClock(ClockReason),
}

impl Action {
    /// Takes out what the index finds the new units by, in the order in which they are recorded.
    pub fn take_searchables(&mut self) -> Vec<Searchable> {
        match self {
            Self::Record(units) => units.iter_mut().map(RecordCommand::take_searchable).collect(),
            Self::Merge(merge) => merge.take_searchable().into_iter().collect(),
            Self::Compact(compact) => compact.take_searchables(),
            Self::Register(_)
            | Self::Deregister(_)
            | Self::Retract(_)
            | Self::Restore(_)
            | Self::SetLeastAuthority(_)
            | Self::Subscribe(_)
            | Self::Session(_)
            | Self::Coordinate(_)
            | Self::Handoff(_)
            | Self::Harn(_)
            | Self::NoteConflicts(_)
            | Self::NoteEnriched(_)
            | Self::TraceAttune(_)
            | Self::ExpireLeases
            | Self::AdvanceClock(_) => Vec::new(),
        }
    }

    /// Whether its commit is known by its message's id, so that a message sent twice is found.
    #[must_use]
    pub const fn has_message_id(&self) -> bool {
        !matches!(
            self,
            Self::NoteConflicts(_)
                | Self::NoteEnriched(_)
                | Self::TraceAttune(_)
                | Self::ExpireLeases
                | Self::AdvanceClock(_)
        )
    }

    /// What the command's idempotency key means, where it has one that outlives the recent messages.
    #[must_use]
    pub fn idempotency_scope(&self) -> Option<&quipu_wire::Hash> {
        if let Self::Harn(command) = self { command.scope() } else { None }
    }
}
