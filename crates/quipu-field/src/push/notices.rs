//! The table from what happened in the log to what subscribers can be sent. One match without a
//! wildcard: a new kind of event does not compile until it is said what subscribers learn of it.

use quipu_wire::akashik::{AgentStatus, SessionStatus, SubscriptionEvent, UnitStatus};

use quipu_core::{
    Event, UnitId,
    event::coordination::{HandoffChange, SessionChange, TaskCause, TaskChange},
    ids::ConflictId,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Entity {
    Unit(UnitId),
    Conflict(ConflictId),
    Agent(String),
    Task(String),
    Session(String),
}

/// What subscribers learn of an event, before anything is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// The kind of event that they subscribed to.
    pub event: SubscriptionEvent,
    pub entity: Entity,
    /// The units whose relevance is that of the push; none where it is not about units.
    pub units: Vec<UnitId>,
    /// The only agent that it is sent to; everybody if none.
    pub only_for: Option<String>,
    /// What follows for the agents it concerns.
    pub action: RequiredAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredAction {
    Nobody,
    /// Whoever recorded one of the units.
    Authors,
    /// The only one that it is sent to.
    Recipient,
}

impl Notice {
    /// A notice that is about no unit and concerns everybody.
    const fn plain(event: SubscriptionEvent, entity: Entity) -> Self {
        let action = RequiredAction::Nobody;
        Self { event, entity, units: Vec::new(), only_for: None, action }
    }

    fn of_unit(event: SubscriptionEvent, unit: UnitId, action: RequiredAction) -> Self {
        Self { event, entity: Entity::Unit(unit), units: vec![unit], only_for: None, action }
    }
}

/// What subscribers learn of an event, in order. An event that moves a task may be several notices.
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
        Event::UnitRestored { unit, .. } => {
            let told = SubscriptionEvent::MemoryRestored;
            vec![Notice::of_unit(told, *unit, RequiredAction::Nobody)]
        }
        Event::ConflictDetected { conflict, unit_a, unit_b, .. } => vec![Notice {
            event: SubscriptionEvent::ConflictDetected,
            entity: Entity::Conflict(*conflict),
            units: vec![*unit_a, *unit_b],
            only_for: None,
            action: RequiredAction::Authors,
        }],
        Event::AgentRegistered { agent, .. } => {
            vec![Notice::plain(SubscriptionEvent::AgentJoined, Entity::Agent(agent.clone()))]
        }
        Event::ConflictResolved { conflict, winner, .. } => vec![Notice {
            event: SubscriptionEvent::ConflictResolved,
            entity: Entity::Conflict(*conflict),
            units: winner.iter().copied().collect(),
            only_for: None,
            action: RequiredAction::Nobody,
        }],
        Event::AgentStatusChanged { agent, to: AgentStatus::Failed, .. } => {
            vec![Notice::plain(SubscriptionEvent::AgentFailed, Entity::Agent(agent.clone()))]
        }
        Event::SessionChanged { session, change } => session_notices(session, change),
        Event::TaskChanged { task, change } => task_notices(task, change),
        Event::HandoffChanged { change: HandoffChange::Offered { task, to, .. }, .. } => {
            vec![Notice {
                only_for: Some(to.clone()),
                action: RequiredAction::Recipient,
                ..Notice::plain(SubscriptionEvent::HandoffIncoming, Entity::Task(task.clone()))
            }]
        }
        Event::AgentDeregistered { .. }
        | Event::AgentStatusChanged { .. }
        | Event::HandoffChanged { .. }
        | Event::ConflictResolving { .. }
        | Event::ConflictBallotCast { .. }
        | Event::ConflictEscalated { .. }
        | Event::UnitRetracted { .. }
        | Event::LeastAuthoritySet { .. }
        | Event::UnitsArchived { .. }
        | Event::UnitsPurged { .. }
        | Event::AttuneTraced { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::DocumentChanged { .. }
        | Event::TaskNoted { .. }
        | Event::IdempotencyKept { .. }
        | Event::ClockAdvanced { .. } => Vec::new(),
    }
}

fn session_notices(session: &str, change: &SessionChange) -> Vec<Notice> {
    let event = match change {
        SessionChange::Moved { to: SessionStatus::Paused, .. } => SubscriptionEvent::SessionPaused,
        SessionChange::Moved { to: SessionStatus::Ended, .. } => SubscriptionEvent::SessionEnded,
        SessionChange::Moved { to: SessionStatus::Active, .. }
        | SessionChange::Created { .. }
        | SessionChange::Joined { .. }
        | SessionChange::Left { .. }
        | SessionChange::PolicySet { .. } => return Vec::new(),
    };
    vec![Notice::plain(event, Entity::Session(session.to_owned()))]
}

/// Every move is one notice; that an agent was given the task, and that the task is done, are notices of their own.
fn task_notices(task: &str, change: &TaskChange) -> Vec<Notice> {
    let of = |event| Notice::plain(event, Entity::Task(task.to_owned()));
    let mut notices = vec![of(SubscriptionEvent::TaskStateChanged)];
    let (given_to, done) = match change {
        TaskChange::Created { assignee, .. } => (assignee.as_ref(), false),
        TaskChange::Moved { cause, assignee, .. } => {
            let given = matches!(cause, TaskCause::Assign | TaskCause::HandoffAccepted);
            (assignee.as_ref().filter(|_| given), *cause == TaskCause::Complete)
        }
    };
    if let Some(agent) = given_to {
        let action = RequiredAction::Recipient;
        let only_for = Some(agent.clone());
        notices.push(Notice { only_for, action, ..of(SubscriptionEvent::TaskAssigned) });
    }
    if done {
        notices.push(of(SubscriptionEvent::TaskCompleted));
    }
    notices
}
