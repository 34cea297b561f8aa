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
    cursor::Cursor,
    event::Event,
    ids::SubscriptionId,
    limits::SUBSCRIPTIONS_PER_AGENT_MAX,
    message::Message,
    rules::Decision,
    state::{State, SubscriptionEntry},
};

pub const AUTHORITY: u8 = 2;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "payload.subscription: {agent} has {SUBSCRIPTIONS_PER_AGENT_MAX} subscriptions already; \
         unsubscribe from one first"
    )]
    TooMany { agent: String },
}

impl Error {
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
            let Some((subscription, created)) = own(state, &message.agent, request) else {
                return Ok(Vec::new());
            };
            Event::SubscriptionRemoved { subscription, created: Some(created) }
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

fn own(state: &State, agent: &str, request: &SubscriptionRequest) -> Option<(SubscriptionId, u64)> {
    let id = SubscriptionId::parse(request.id.as_deref()?)?;
    let entry = state.subscriptions.get(id).filter(|entry| entry.agent == agent)?;
    Some((id, entry.position))
}

/// The commit that made the subscription which this one ended.
#[must_use]
pub fn ended(events: &[SealedEvent<Event>]) -> Option<u64> {
    events.iter().find_map(|sealed| {
        let Event::SubscriptionRemoved { created, .. } = &sealed.event else { return None };
        *created
    })
}

/// The subscription that a commit made.
#[must_use]
pub fn made(
    agent: &str,
    position: u64,
    epoch: u64,
    events: &[SealedEvent<Event>],
) -> Option<Subscription> {
    events.iter().find_map(|sealed| {
        let Event::SubscriptionCreated { subscription, events, min_relevance, debounce_ms } =
            &sealed.event
        else {
            return None;
        };
        Some(Subscription {
            id: subscription.to_string(),
            agent_id: agent.to_owned(),
            events: events.clone(),
            min_relevance: *min_relevance,
            debounce_ms: *debounce_ms,
            epoch_created: epoch,
            cursor: Cursor::after_commit(position).to_string(),
        })
    })
}

/// The answer: whether anything happened, and to which subscription.
#[must_use]
pub fn respond(happened: bool, subscription: Option<Subscription>) -> SubscribeResponse {
    SubscribeResponse {
        status: if happened { SubscribeStatus::Ok } else { SubscribeStatus::NotFound },
        subscription,
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
    events.iter().any(|sealed| {
        if let Event::SubscriptionCreated { events, min_relevance, debounce_ms, .. } = &sealed.event
        {
            command.payload.action == SubscribeAction::Subscribe
                && *events == request.events
                && min_relevance.map(f64::to_bits) == request.min_relevance.map(f64::to_bits)
                && *debounce_ms == request.debounce_ms
        } else if let Event::SubscriptionRemoved { subscription, .. } = &sealed.event {
            command.payload.action == SubscribeAction::Unsubscribe
                && request.id.as_deref() == Some(subscription.to_string().as_str())
        } else {
            false
        }
    })
}
