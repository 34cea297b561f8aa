//! Where in the log the parts of an argument are, noted while the chain is looked for: by place and not by content, so that
//! a chain of any length costs little, and only what is told is read again.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
};

use quipu_log::Header;
use quipu_wire::akashik::{HandoffStatus, MemoryType, UnitStatus};

use super::{chain::Found, links::Target};
use quipu_core::{
    Event, UnitId,
    event::{
        ReturnedUnit,
        coordination::{HandoffChange, SessionChange, TaskCause, TaskChange},
    },
    ids::{ConflictId, TraceId},
    visibility::Hidden,
};

/// How many ballots, handoffs, moves and later events are noted, newest first.
const NOTED_MAX: usize = 8;
/// Units of a task or session that are noted, the weightiest first.
const WORK_NOTED_MAX: usize = 10;
/// Units of one ATTUNE that are looked for by their text, best first, and ATTUNEs of which this is done.
const RETURNED_UNITS_MAX: usize = 5;
const TRACES_NOTED_MAX: usize = 4;
/// Units of whose end the newest news is kept. Beyond that nothing is said of it.
const ENDS_NOTED_MAX: usize = 262_144;

/// Where an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EventAddress {
    pub(crate) position: u64,
    pub(crate) index: u32,
}

/// What disagreed, and how that ended.
#[derive(Debug, Default)]
pub(crate) struct Dispute {
    pub(crate) detected: Option<EventAddress>,
    pub(crate) sides: Option<(UnitId, UnitId)>,
    pub(crate) ended: Option<EventAddress>,
    pub(crate) escalated: Option<EventAddress>,
    /// The newest ones, and how many there were.
    pub(crate) ballots: Vec<EventAddress>,
}

/// What became of a unit after all, by the newest event that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Stands,
    Withdrawn(u64),
    Replaced(u64),
}

#[derive(Debug)]
pub(crate) struct NotedHandoff {
    pub(crate) id: String,
    pub(crate) task: String,
    pub(crate) place: EventAddress,
}

/// What weighs more is noted rather: by type, and of the same type the newest.
type Weight = (u8, Reverse<EventAddress>);

#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The units of the chain, and those that an author had been shown.
    pub(crate) units: HashMap<UnitId, EventAddress>,
    pub(crate) traces: HashMap<TraceId, EventAddress>,
    pub(crate) disputes: HashMap<ConflictId, Dispute>,
    /// The disputes of each unit, newest first.
    pub(crate) disputed: HashMap<UnitId, Vec<ConflictId>>,
    pub(crate) ends: HashMap<UnitId, End>,
    /// What happened to the target later, newest first.
    pub(crate) after: Vec<EventAddress>,
    /// Where tasks were made.
    pub(crate) tasks: HashMap<String, EventAddress>,
    /// Moves of the task that is replayed for which a reason was given, newest first, and its last one.
    pub(crate) reasoned_moves: Vec<EventAddress>,
    pub(crate) last_move: Option<EventAddress>,
    pub(crate) handoffs: Vec<NotedHandoff>,
    pub(crate) handoff_ends: HashMap<String, HandoffStatus>,
    /// The weightiest units of the task or session that is replayed.
    pub(crate) work: BTreeMap<Weight, UnitId>,
    /// Where the session that is replayed was opened.
    pub(crate) session: Option<EventAddress>,
    /// How many events of each kind there are.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// Units that were shown, as far as their RECORD is still to be met.
    awaited: HashSet<UnitId>,
    traces_noted: usize,
    origin_met: bool,
}

impl Places {
    /// Whether something is still looked for that a summary names.
    pub(crate) fn awaits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Looks at a commit whether it belongs to the chain or not: for units that were shown, and for what became of units.
    pub(crate) fn glance(&mut self, header: &Header<Event>) {
        for (index, sealed) in (0u32..).zip(&header.events) {
            if let Event::UnitRecorded { unit, .. } = &sealed.event {
                if !self.awaited.is_empty() && self.awaited.remove(unit) {
                    let place = EventAddress { position: header.position, index };
                    self.units.insert(*unit, place);
                }
            } else if let Some((unit, end)) = end(&sealed.event, header.epoch)
                && self.ends.len() < ENDS_NOTED_MAX
            {
                self.ends.entry(unit).or_insert(end);
            }
        }
    }

    /// Notes an event of the chain; newer ones were noted before.
    pub(crate) fn note(
        &mut self,
        found: &Found,
        kind: &'static str,
        target: &Target,
        hidden: &Hidden,
    ) {
        *self.counts.entry(kind).or_default() += 1;
        let place = found.place();
        match &found.event {
            Event::UnitRecorded { .. } => self.note_unit(found, target),
            Event::AttuneTraced { trace, units, .. } => {
                self.traces.insert(*trace, place);
                self.await_returned_units(units, hidden);
            }
            Event::ConflictDetected { conflict, unit_a, unit_b, .. } => {
                let dispute = self.disputes.entry(*conflict).or_default();
                (dispute.detected, dispute.sides) = (Some(place), Some((*unit_a, *unit_b)));
                for unit in [unit_a, unit_b] {
                    self.disputed.entry(*unit).or_default().push(*conflict);
                }
            }
            Event::ConflictResolved { conflict, .. } => {
                self.disputes.entry(*conflict).or_default().ended.get_or_insert(place);
            }
            Event::ConflictEscalated { conflict, .. } => {
                self.disputes.entry(*conflict).or_default().escalated.get_or_insert(place);
            }
            Event::ConflictBallotCast { conflict, .. } => {
                push(&mut self.disputes.entry(*conflict).or_default().ballots, place);
            }
            Event::TaskChanged { task, change } => self.note_task(task, change, place, target),
            Event::HandoffChanged { handoff, change } => self.note_handoff(handoff, change, place),
            Event::SessionChanged { change, session } => {
                let is_target = matches!(target, Target::Session(own) if own == session);
                if is_target && matches!(change, SessionChange::Created { .. }) {
                    self.session = Some(place);
                }
            }
            Event::UnitRetracted { unit, .. } | Event::UnitRestored { unit, .. } => {
                if target.unit() == Some(*unit) {
                    push(&mut self.after, place);
                }
            }
            Event::UnitsArchived { units, .. } | Event::UnitsPurged { units, .. } => {
                if target.unit().is_some_and(|unit| units.contains(&unit)) {
                    push(&mut self.after, place);
                }
            }
            Event::AgentRegistered { .. }
            | Event::AgentDeregistered { .. }
            | Event::AgentStatusChanged { .. }
            | Event::UnitStatusChanged { .. }
            | Event::ConflictResolving { .. }
            | Event::LeastAuthoritySet { .. }
            | Event::SubscriptionCreated { .. }
            | Event::SubscriptionRemoved { .. }
            | Event::DocumentChanged { .. }
            | Event::TaskNoted { .. }
            | Event::IdempotencyKept { .. }
            | Event::ClockAdvanced { .. } => {}
        }
    }

    fn note_unit(&mut self, found: &Found, target: &Target) {
        let Event::UnitRecorded { unit, memory_type, task, .. } = &found.event else { return };
        let place = found.place();
        self.units.insert(*unit, place);
        self.awaited.remove(unit);
        match target {
            Target::Unit(own) | Target::Decision(own) => {
                if own == unit {
                    self.origin_met = true;
                } else if !self.origin_met && found.replaces(*own) {
                    push(&mut self.after, place);
                }
            }
            Target::Task(own) if task.as_ref() != Some(own) => {}
            Target::Task(_) | Target::Session(_) => {
                self.work.insert((lightness(*memory_type), Reverse(place)), *unit);
                if self.work.len() > WORK_NOTED_MAX {
                    self.work.pop_last();
                }
            }
            Target::Conflict(_) => {}
        }
    }

    fn note_task(&mut self, task: &str, change: &TaskChange, place: EventAddress, target: &Target) {
        match change {
            TaskChange::Created { .. } => {
                self.tasks.entry(task.to_owned()).or_insert(place);
            }
            TaskChange::Moved { cause, .. } => {
                if *target != Target::Task(task.to_owned()) {
                    return;
                }
                self.last_move.get_or_insert(place);
                if let TaskCause::Block | TaskCause::AwaitAuth | TaskCause::Fail = cause {
                    push(&mut self.reasoned_moves, place);
                }
            }
        }
    }

    fn note_handoff(&mut self, handoff: &str, change: &HandoffChange, place: EventAddress) {
        match change {
            HandoffChange::Offered { task, .. } => {
                if self.handoffs.len() < NOTED_MAX {
                    let (id, task) = (handoff.to_owned(), task.clone());
                    self.handoffs.push(NotedHandoff { id, task, place });
                }
            }
            HandoffChange::Moved { to, .. } => {
                if self.handoff_ends.len() < NOTED_MAX {
                    self.handoff_ends.entry(handoff.to_owned()).or_insert(*to);
                }
            }
        }
    }

    /// Looks for the texts of what an ATTUNE showed first.
    fn await_returned_units(&mut self, units: &[ReturnedUnit], hidden: &Hidden) {
        if self.traces_noted >= TRACES_NOTED_MAX {
            return;
        }
        self.traces_noted += 1;
        let seen = units.iter().map(|shown| shown.unit).filter(|unit| !hidden.units.contains(unit));
        let unknown = seen.take(RETURNED_UNITS_MAX).filter(|unit| !self.units.contains_key(unit));
        self.awaited.extend(unknown.collect::<Vec<_>>());
    }
}

/// What an event says of how a unit ended.
fn end(event: &Event, epoch: u64) -> Option<(UnitId, End)> {
    if let Event::UnitRetracted { unit, .. } = event {
        Some((*unit, End::Withdrawn(epoch)))
    } else if let Event::UnitStatusChanged { unit, to: UnitStatus::Superseded, .. } = event {
        Some((*unit, End::Replaced(epoch)))
    } else if let Event::UnitRestored { unit, .. } = event {
        Some((*unit, End::Stands))
    } else {
        None
    }
}

fn push(places: &mut Vec<EventAddress>, place: EventAddress) {
    if places.len() < NOTED_MAX {
        places.push(place);
    }
}

/// What says most about why things are as they are has the lowest number.
const fn lightness(kind: MemoryType) -> u8 {
    match kind {
        MemoryType::Decision => 0,
        MemoryType::HumanDirective => 1,
        MemoryType::Constraint => 2,
        MemoryType::Synthesis | MemoryType::Correction => 3,
        MemoryType::Finding => 4,
        MemoryType::Question => 5,
        MemoryType::Contradiction => 6,
        MemoryType::Assumption | MemoryType::Intention => 7,
        MemoryType::Observation => 8,
    }
}
