//! SUBSCRIBE: asks to be told of events (`POST /v1/subscribe`), and what is then pushed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    json::reader::{ObjectReader, ReadError},
    limits::{DEBOUNCE_MS_MAX, LIST_ENTRIES_MAX},
    words::words,
};

words! {
    /// What to do with a subscription.
    SubscribeAction {
        /// Make one.
        Subscribe = "subscribe",
        /// End one.
        Unsubscribe = "unsubscribe",
        /// Name one's own.
        List = "list",
    }
}

words! {
    /// What a subscriber can be told of.
    SubscriptionEvent {
        /// A unit was recorded.
        MemoryRecorded = "memory.recorded",
        /// A unit was replaced by another.
        MemorySuperseded = "memory.superseded",
        /// A unit that was replaced, withdrawn or archived is back (Quipu's extension).
        MemoryRestored = "memory.restored",
        /// A unit is in a conflict that nobody has settled.
        MemoryContested = "memory.contested",
        /// Two units were found to disagree.
        ConflictDetected = "conflict.detected",
        /// A conflict was settled.
        ConflictResolved = "conflict.resolved",
        /// A task moved.
        TaskStateChanged = "task.state_changed",
        /// A task was given to an agent.
        TaskAssigned = "task.assigned",
        /// A task was completed.
        TaskCompleted = "task.completed",
        /// A task is offered to the subscriber.
        HandoffIncoming = "handoff.incoming",
        /// An agent joined.
        AgentJoined = "agent.joined",
        /// An agent failed.
        AgentFailed = "agent.failed",
        /// A session was paused.
        SessionPaused = "session.paused",
        /// A session ended.
        SessionEnded = "session.ended",
    }
}

words! {
    /// Whether there was such a subscription.
    SubscribeStatus {
        /// It was done.
        Ok = "ok",
        /// The agent has no subscription of that id.
        NotFound = "not_found",
    }
}

/// What a subscription is to be, or which one is meant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SubscriptionRequest {
    /// Which one to end. The Field names new ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What to be told of.
    #[serde(default)]
    pub events: Vec<SubscriptionEvent>,
    /// Nothing that scores lower, 0.0 to 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_relevance: Option<f64>,
    /// The least time between two pushes about the same thing, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debounce_ms: Option<u64>,
}

/// What is asked about subscriptions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SubscribePayload {
    /// What to do.
    pub action: SubscribeAction,
    /// What the subscription is to be, or which one is meant.
    #[serde(default)]
    pub subscription: SubscriptionRequest,
}

/// A subscription as the Field keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Subscription {
    /// Its id.
    pub id: String,
    /// Whose it is.
    pub agent_id: String,
    /// What it tells of, in the protocol's order.
    pub events: Vec<SubscriptionEvent>,
    /// Nothing that scores lower is pushed.
    pub min_relevance: Option<f64>,
    /// The least time between two pushes about the same thing, in milliseconds.
    pub debounce_ms: Option<u64>,
    /// The logical time of its making.
    pub epoch_created: u64,
    /// Ours: the place in the log at which it begins; a stream opened `after` it misses nothing.
    pub cursor: String,
}

/// The answer to SUBSCRIBE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SubscribeResponse {
    /// Whether there was such a subscription.
    pub status: SubscribeStatus,
    /// The one that was made or ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription: Option<Subscription>,
    /// The agent's own, oldest first, when it asked for a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriptions: Option<Vec<Subscription>>,
    /// Where a new one is pushed over a WebSocket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket_url: Option<String>,
    /// Where a new one is pushed as server-sent events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sse_url: Option<String>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What is pushed to a subscriber.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushNotification {
    /// The subscription that asked for it.
    pub subscription_id: String,
    /// What happened.
    pub event: SubscriptionEvent,
    /// When, in the Field's logical time.
    pub epoch: u64,
    /// How much it matters to the subscriber, 0.0 to 1.0.
    pub relevance_score: f64,
    /// What happened, in words.
    pub summary: String,
    /// The unit it is about.
    pub memory_unit_id: Option<String>,
    /// The conflict it is about.
    pub conflict_id: Option<String>,
    /// Whether the subscriber is expected to do something.
    pub requires_action: bool,
    /// Ours: resume after this one.
    pub cursor: String,
}

impl SubscribePayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let action = object
            .take_word("action", SubscribeAction::WORDS, SubscribeAction::parse)?
            .ok_or_else(|| object.refuse("action", "is required"))?;
        let inner = object.take_object("subscription")?;
        let (subscription, mut warnings) = match inner {
            Some(inner) => read_subscription(action, inner)?,
            None if action == SubscribeAction::List => Default::default(),
            None => return Err(object.refuse("subscription", "is required")),
        };
        warnings.extend(object.warnings());
        Ok((Self { action, subscription }, warnings))
    }
}

fn read_subscription(
    action: SubscribeAction,
    mut object: ObjectReader,
) -> Result<(SubscriptionRequest, Vec<String>), ReadError> {
    let mut request = SubscriptionRequest::default();
    match action {
        SubscribeAction::Subscribe => {
            request.events = read_events(&mut object)?;
            if request.events.is_empty() {
                let problem = format!("must name at least one of {}", SubscriptionEvent::WORDS);
                return Err(object.refuse("events", problem));
            }
            request.min_relevance = object.take_fraction("min_relevance")?;
            request.debounce_ms = object.take_integer("debounce_ms")?;
            if request.debounce_ms.is_some_and(|gap| gap > DEBOUNCE_MS_MAX) {
                let problem = format!("must be at most {DEBOUNCE_MS_MAX}");
                return Err(object.refuse("debounce_ms", problem));
            }
        }
        SubscribeAction::Unsubscribe => request.id = Some(object.require_id("id")?),
        SubscribeAction::List => {}
    }
    Ok((request, object.warnings()))
}

/// The events asked for, each once, in the protocol's order.
fn read_events(object: &mut ObjectReader) -> Result<Vec<SubscriptionEvent>, ReadError> {
    let mut events = object
        .take_array("events", LIST_ENTRIES_MAX)?
        .into_iter()
        .map(|(path, value)| {
            value.as_str().and_then(SubscriptionEvent::parse).ok_or_else(|| {
                ReadError::new(path, format!("must be one of {}", SubscriptionEvent::WORDS))
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    events.sort_unstable();
    events.dedup();
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(payload: Value) -> String {
        SubscribePayload::parse(payload).unwrap_err().to_string()
    }

    #[test]
    fn there_are_thirteen_events_and_one_of_ours_and_each_is_named_once() {
        assert_eq!(SubscriptionEvent::ALL.len(), 14);
        let events = json!(["task.assigned", "memory.recorded", "task.assigned"]);
        let payload = json!({"action": "subscribe", "subscription": {"events": events}});
        let (payload, warnings) = SubscribePayload::parse(payload).unwrap();
        let expected = [SubscriptionEvent::MemoryRecorded, SubscriptionEvent::TaskAssigned];
        assert_eq!(payload.subscription.events, expected);
        assert_eq!(warnings, Vec::<String>::new());
    }

    #[test]
    fn each_action_says_what_it_lacks() {
        assert_eq!(problem(json!({})), "payload.action: is required");
        assert_eq!(problem(json!({"action": "subscribe"})), "payload.subscription: is required");
        let bare = |action: &str| json!({"action": action, "subscription": {}});
        assert!(problem(bare("subscribe")).starts_with("payload.subscription.events: must name"));
        assert_eq!(problem(bare("unsubscribe")), "payload.subscription.id: is required");
        assert!(SubscribePayload::parse(json!({"action": "list"})).is_ok());
    }

    #[test]
    fn bounds_and_unknown_events_are_refused_by_name() {
        let with = |key: &str, value: Value| {
            let mut subscription = json!({"events": ["agent.joined"]});
            subscription[key] = value;
            problem(json!({"action": "subscribe", "subscription": subscription}))
        };
        assert!(
            with("min_relevance", json!(1.5)).starts_with("payload.subscription.min_relevance")
        );
        assert!(with("debounce_ms", json!(3_600_001)).ends_with("must be at most 3600000"));
        assert!(
            with("events", json!(["x"])).starts_with("payload.subscription.events[0]: must be")
        );
    }

    #[test]
    fn an_id_for_a_new_one_is_ignored_with_a_warning() {
        let subscription = json!({"id": "mine", "events": ["agent.joined"]});
        let payload = json!({"action": "subscribe", "subscription": subscription});
        let (payload, warnings) = SubscribePayload::parse(payload).unwrap();
        assert_eq!(payload.subscription.id, None);
        assert_eq!(warnings, ["payload.subscription.id was ignored: unknown field"]);
    }
}
