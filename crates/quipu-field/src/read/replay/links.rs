//! The one table that says which things an event is about and which earlier things led to it. A new kind
//! of event joins REPLAY with one arm here and one in `describe`.

use quipu_wire::akashik::{ReplayPayload, ReplayTarget};

use quipu_core::{
    Event, UnitId,
    event::{Link, coordination::HandoffChange},
    ids::{ConflictId, TraceId},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Entity<'a> {
    Unit(UnitId),
    Conflict(ConflictId),
    /// A task as such: how it was made, given, finished. A unit rests on it.
    Task(&'a str),
    /// Everything done for a task, which only a replay of the task itself asks for.
    Work(&'a str),
    /// What an agent was shown by one ATTUNE. A unit rests on what its author had been shown.
    Trace(TraceId),
}

/// What an event is about and what led to it.
#[derive(Debug, Default)]
pub(crate) struct Links<'a> {
    pub(crate) about: Vec<Entity<'a>>,
    /// What it rests on: earlier events about these belong to whatever it belongs to.
    pub(crate) rests_on: Vec<Entity<'a>>,
    /// What it made: there is nothing about that before.
    pub(crate) made: Option<Entity<'a>>,
    /// Whether it only follows from the first event of its commit, whose description covers it.
    pub(crate) follows: bool,
}

pub(crate) fn links(event: &Event) -> Links<'_> {
    match event {
        Event::UnitRecorded { unit, task, relations, shown, .. } => {
            of_unit(*unit, task.as_deref(), relations, shown)
        }
        // The units that were shown are told of in words: all that led to each of them would be no
        // answer any more.
        Event::AttuneTraced { trace, .. } => {
            let trace = Entity::Trace(*trace);
            Links { about: vec![trace], made: Some(trace), ..Links::default() }
        }
        Event::UnitStatusChanged { unit, .. } => {
            Links { about: vec![Entity::Unit(*unit)], follows: true, ..Links::default() }
        }
        Event::ConflictDetected { conflict, unit_a, unit_b, .. } => {
            let (conflict, units) = (Entity::Conflict(*conflict), [unit_a, unit_b]);
            let units = units.map(|unit| Entity::Unit(*unit));
            Links {
                about: [conflict].into_iter().chain(units).collect(),
                rests_on: [conflict].into_iter().chain(units).collect(),
                made: Some(conflict),
                follows: false,
            }
        }
        Event::ConflictResolving { conflict, .. }
        | Event::ConflictBallotCast { conflict, .. }
        | Event::ConflictResolved { conflict, .. }
        | Event::ConflictEscalated { conflict, .. } => {
            let conflict = Entity::Conflict(*conflict);
            Links { about: vec![conflict], rests_on: vec![conflict], ..Links::default() }
        }
        // What follows from a retraction rests on it.
        Event::UnitRestored { unit, .. } => {
            let unit = Entity::Unit(*unit);
            Links { about: vec![unit], rests_on: vec![unit], made: None, follows: true }
        }
        Event::UnitRetracted { unit, .. } => {
            let unit = Entity::Unit(*unit);
            Links { about: vec![unit], rests_on: vec![unit], ..Links::default() }
        }
        Event::TaskChanged { task, .. } => {
            Links { about: vec![Entity::Task(task), Entity::Work(task)], ..Links::default() }
        }
        Event::HandoffChanged { change, .. } => {
            let (HandoffChange::Offered { task, .. } | HandoffChange::Moved { task, .. }) = change;
            Links { about: vec![Entity::Task(task), Entity::Work(task)], ..Links::default() }
        }
        Event::UnitsArchived { units, .. } | Event::UnitsPurged { units, .. } => Links {
            about: units.iter().map(|unit| Entity::Unit(*unit)).collect(),
            ..Links::default()
        },
        Event::TaskNoted { task, .. } => {
            Links { about: vec![Entity::Work(task)], ..Links::default() }
        }
        Event::AgentRegistered { .. }
        | Event::LeastAuthoritySet { .. }
        | Event::DocumentChanged { .. }
        | Event::IdempotencyKept { .. }
        | Event::AgentDeregistered { .. }
        | Event::AgentStatusChanged { .. }
        | Event::SessionChanged { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::ClockAdvanced { .. } => Links::default(),
    }
}

fn of_unit<'event>(
    unit: UnitId,
    task: Option<&'event str>,
    relations: &'event [Link],
    shown: &[TraceId],
) -> Links<'event> {
    let shown = shown.iter().map(|trace| Entity::Trace(*trace));
    let targets = relations.iter().filter_map(|link| UnitId::parse(&link.target));
    Links {
        about: [Entity::Unit(unit)].into_iter().chain(task.map(Entity::Work)).collect(),
        rests_on: targets.map(Entity::Unit).chain(task.map(Entity::Task)).chain(shown).collect(),
        made: Some(Entity::Unit(unit)),
        follows: false,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Unit(UnitId),
    /// A unit that must be a decision.
    Decision(UnitId),
    Conflict(ConflictId),
    Task(String),
    Session(String),
}

impl Target {
    /// The target of a payload, or nothing where no such id is ever given.
    pub(crate) fn of(payload: &ReplayPayload) -> Option<Self> {
        let id = &payload.target_id;
        match payload.target_type {
            ReplayTarget::MemoryUnit => UnitId::parse(id).map(Self::Unit),
            ReplayTarget::Decision => UnitId::parse(id).map(Self::Decision),
            ReplayTarget::Conflict => ConflictId::parse(id).map(Self::Conflict),
            ReplayTarget::Task => Some(Self::Task(id.clone())),
            ReplayTarget::Session => Some(Self::Session(id.clone())),
        }
    }

    pub(crate) fn is_made_by(&self, event: &Event) -> bool {
        match self {
            Self::Unit(own) | Self::Decision(own) => links(event).made == Some(Entity::Unit(*own)),
            Self::Conflict(own) => links(event).made == Some(Entity::Conflict(*own)),
            Self::Task(_) | Self::Session(_) => false,
        }
    }

    pub(crate) const fn unit(&self) -> Option<UnitId> {
        match self {
            Self::Unit(unit) | Self::Decision(unit) => Some(*unit),
            Self::Conflict(_) | Self::Task(_) | Self::Session(_) => None,
        }
    }
}
