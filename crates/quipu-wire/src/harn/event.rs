//! Event: something that happened, append-only, in the order of its stream.

use serde::{Deserialize, Serialize};

use super::{EventName, JsonObject, ReplayEventMetadata, ResourceEnvelope, ResourcePointer};
use crate::words::words;

words! {
    /// The word in `object` of an Event.
    EventObject {
        /// Always this one.
        Event = "event",
    }
}

/// An Event. Nothing in it is hidden reasoning, a secret, a token or a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Event {
    /// Always `event`.
    pub object: EventObject,
    /// Id, times and metadata. Ids grow within a stream.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// What happened.
    pub event: EventName,
    /// To what.
    pub resource: ResourcePointer,
    /// Its place among the events of that resource.
    pub sequence: u64,
    /// The particulars.
    pub payload: JsonObject,
    /// The trace that it belongs to.
    pub trace_id: Option<String>,
    /// The span that it belongs to.
    pub span_id: Option<String>,
    /// The Session.
    pub session_id: Option<String>,
    /// The Task.
    pub task_id: Option<String>,
    /// The Workspace.
    pub workspace_id: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// A digest of the key that the request carried, never the key.
    pub idempotency_key: Option<String>,
    /// The event before it in the resource's stream.
    pub previous_event_id: Option<String>,
    /// The Receipt that proves it.
    pub receipt_id: Option<String>,
    /// Whether this copy tells of something again.
    #[serde(default)]
    pub replayed: bool,
    /// What it repeats, where a replay Task wrote it.
    pub replay: Option<ReplayEventMetadata>,
}
