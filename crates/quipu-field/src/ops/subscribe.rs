//! SUBSCRIBE (spec 3.7): an agent asks to be told of events, or no longer. What is then told, and how,
//! is in `push`.

use quipu_log::{DraftEvent, SealedEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{
        SubscribeAction, SubscribePayload, SubscribeResponse, SubscribeStatus, Subscription,
        SubscriptionRequest,
    },
};

use super::{Refusal, admit};
use crate::{
    command::{Decision, Message},
    event::Event,
    ids::SubscriptionId,
    limits::SUBSCRIPTIONS_PER_AGENT_MAX,
    push::Cursor,
    state::{State, SubscriptionEntry},
};

/// The authority that SUBSCRIBE needs.
pub const AUTHORITY: u8 = 2;

/// Why an agent cannot subscribe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It has as many as it may have.
    #[error(
        "payload.subscription: {agent} has {SUBSCRIPTIONS_PER_AGENT_MAX} subscriptions already; \
         unsubscribe from one first"
    )]
    TooMany {
        /// The agent.
        agent: String,
    },
}

impl Error {
    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::TooMany { .. } => ErrorCode::InvalidPayload,
        }
    }
}

/// A SUBSCRIBE that changes something, with the id that a new subscription will have.
#[derive(Debug, Clone)]
pub struct SubscribeCommand {
    /// What was asked.
    pub payload: SubscribePayload,
    /// The id for a new one.
    pub drawn: SubscriptionId,
}

/// The rule. To end what one does not have is an answer and no error, so nothing happens then.
pub fn decide(
    state: &State,
    message: &Message,
    command: &SubscribeCommand,
) -> Result<Decision, Refusal> {
    admit(state, &message.agent, message.authority, AUTHORITY)?;
    let request = &command.payload.subscription;
    let event = match command.payload.action {
        SubscribeAction::List => return Ok(Vec::new()),
        SubscribeAction::Unsubscribe => {
            let Some(subscription) = own(state, &message.agent, request) else {
                return Ok(Vec::new());
            };
            Event::SubscriptionRemoved { subscription }
        }
        SubscribeAction::Subscribe => {
            let agent = message.agent.clone();
            if state.subscriptions.of_agent(&agent).count() >= SUBSCRIPTIONS_PER_AGENT_MAX {
                return Err(Error::TooMany { agent }.into());
            }
            Event::SubscriptionCreated {
                subscription: command.drawn,
                events: request.events.clone(),
                min_relevance: request.min_relevance,
                debounce_ms: request.debounce_ms,
            }
        }
    };
    Ok(vec![DraftEvent { event, body: None }])
}

fn own(state: &State, agent: &str, request: &SubscriptionRequest) -> Option<SubscriptionId> {
    let id = SubscriptionId::parse(request.id.as_deref()?)?;
    state.subscriptions.get(id).filter(|entry| entry.agent == agent).map(|_| id)
}

/// What happened to which subscription, if anything did.
#[must_use]
pub fn concerned(events: &[SealedEvent<Event>]) -> Option<SubscriptionId> {
    events.iter().find_map(|sealed| {
        if let Event::SubscriptionCreated { subscription, .. }
        | Event::SubscriptionRemoved { subscription } = &sealed.event
        {
            return Some(*subscription);
        }
        None
    })
}

/// The answer. `entry` is the subscription as it is, or as it was before it ended.
#[must_use]
pub fn respond(found: Option<(SubscriptionId, Option<&SubscriptionEntry>)>) -> SubscribeResponse {
    SubscribeResponse {
        status: if found.is_some() { SubscribeStatus::Ok } else { SubscribeStatus::NotFound },
        subscription: found.and_then(|(id, entry)| entry.map(|entry| to_wire(id, entry))),
        subscriptions: None,
        websocket_url: None,
        sse_url: None,
        warnings: Vec::new(),
    }
}

/// The answer to `list`.
#[must_use]
pub fn list(state: &State, agent: &str) -> SubscribeResponse {
    let own = state.subscriptions.of_agent(agent).map(|(id, entry)| to_wire(id, entry)).collect();
    SubscribeResponse {
        status: SubscribeStatus::Ok,
        subscription: None,
        subscriptions: Some(own),
        websocket_url: None,
        sse_url: None,
        warnings: Vec::new(),
    }
}

/// A subscription as the protocol shows it.
#[must_use]
pub fn to_wire(id: SubscriptionId, entry: &SubscriptionEntry) -> Subscription {
    Subscription {
        id: id.to_string(),
        agent_id: entry.agent.clone(),
        events: entry.events.clone(),
        min_relevance: entry.min_relevance,
        debounce_ms: entry.debounce_ms,
        epoch_created: entry.epoch,
        cursor: Cursor::after_commit(entry.position).to_string(),
    }
}

pub(super) fn is_same(command: &SubscribeCommand, events: &[SealedEvent<Event>]) -> bool {
    let request = &command.payload.subscription;
    events.iter().any(|sealed| match &sealed.event {
        Event::SubscriptionCreated { events, min_relevance, debounce_ms, .. } => {
            command.payload.action == SubscribeAction::Subscribe
                && *events == request.events
                && min_relevance.map(f64::to_bits) == request.min_relevance.map(f64::to_bits)
                && *debounce_ms == request.debounce_ms
        }
        Event::SubscriptionRemoved { subscription } => {
            command.payload.action == SubscribeAction::Unsubscribe
                && request.id.as_deref() == Some(subscription.to_string().as_str())
        }
        Event::AgentRegistered { .. }
        | Event::AgentDeregistered { .. }
        | Event::UnitRecorded { .. }
        | Event::UnitStatusChanged { .. }
        | Event::ConflictDetected { .. }
        | Event::AgentStatusChanged { .. }
        | Event::SessionChanged { .. }
        | Event::TaskChanged { .. }
        | Event::HandoffChanged { .. }
        | Event::ConflictResolving { .. }
        | Event::ConflictBallotCast { .. }
        | Event::ConflictResolved { .. }
        | Event::ConflictEscalated { .. }
        | Event::UnitRetracted { .. }
        | Event::UnitsArchived { .. }
        | Event::UnitsPurged { .. }
        | Event::ClockAdvanced { .. } => false,
    })
}
