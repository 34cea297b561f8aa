//! The table from what happened in the log to what subscribers can be told. One match without a
//! wildcard: a new kind of event does not compile until it says what it tells.

use quipu_wire::akashik::{SubscriptionEvent, UnitStatus};

use crate::{
    event::Event,
    ids::{ConflictId, UnitId},
};

/// The thing that a push is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Entity {
    /// A unit.
    Unit(UnitId),
    /// A conflict.
    Conflict(ConflictId),
    /// An agent.
    Agent(String),
}

/// What an event tells, before anything is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// Under which word.
    pub event: SubscriptionEvent,
    /// About what.
    pub entity: Entity,
    /// The units whose relevance is that of the push; none where it is not about units.
    pub units: Vec<UnitId>,
    /// The only agent that is told; everybody if none.
    pub only_for: Option<String>,
    /// What follows for the agents it concerns.
    pub action: RequiredAction,
}

/// Who is expected to do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredAction {
    /// Nobody.
    Nobody,
    /// Whoever recorded one of the units.
    Authors,
}

impl Notice {
    fn of_unit(event: SubscriptionEvent, unit: UnitId, action: RequiredAction) -> Self {
        Self { event, entity: Entity::Unit(unit), units: vec![unit], only_for: None, action }
    }
}

/// What an event tells, in order. An event that moves a task may tell several things.
pub(crate) fn notices(event: &Event) -> Vec<Notice> {
    match event {
        Event::UnitRecorded { unit, .. } => {
            let told = SubscriptionEvent::MemoryRecorded;
            vec![Notice::of_unit(told, *unit, RequiredAction::Nobody)]
        }
        Event::UnitStatusChanged { unit, to, .. } => match to {
            UnitStatus::Superseded => {
                let told = SubscriptionEvent::MemorySuperseded;
                vec![Notice::of_unit(told, *unit, RequiredAction::Nobody)]
            }
            UnitStatus::Contested => {
                let told = SubscriptionEvent::MemoryContested;
                vec![Notice::of_unit(told, *unit, RequiredAction::Authors)]
            }
            UnitStatus::Draft
            | UnitStatus::Active
            | UnitStatus::Retracted
            | UnitStatus::PendingEnrichment => Vec::new(),
        },
        Event::ConflictDetected { conflict, unit_a, unit_b, .. } => vec![Notice {
            event: SubscriptionEvent::ConflictDetected,
            entity: Entity::Conflict(*conflict),
            units: vec![*unit_a, *unit_b],
            only_for: None,
            action: RequiredAction::Authors,
        }],
        Event::AgentRegistered { agent, .. } => vec![Notice {
            event: SubscriptionEvent::AgentJoined,
            entity: Entity::Agent(agent.clone()),
            units: Vec::new(),
            only_for: None,
            action: RequiredAction::Nobody,
        }],
        Event::AgentDeregistered { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::ClockAdvanced { .. } => Vec::new(),
    }
}
