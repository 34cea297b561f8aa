//! Connector: a way in for what happens elsewhere. Read-only over this protocol; what changes one, and what
//! answers a delivery, is ours.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Change, JsonObject, ResourceEnvelope, reading};
use crate::{json::reader::ReadError, words::words};

pub const WEBHOOK_SECRET_BYTES_MIN: usize = 16;

words! {
    /// The word in `object` of this resource.
    ConnectorObject {
        /// Always this one.
        Connector = "connector",
    }
}

words! {
    /// Whether a Connector takes deliveries.
    ConnectorStatus {
        /// It does.
        Active = "ACTIVE",
        /// Not now.
        Paused = "PAUSED",
        /// It is broken.
        Failed = "FAILED",
        /// Not any more.
        Disabled = "DISABLED",
    }
}

/// A Connector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Connector {
    /// Always `connector`.
    pub object: ConnectorObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// What it connects to.
    pub provider: String,
    /// The Workspace that it feeds.
    pub workspace_id: String,
    /// Whether it takes deliveries.
    pub status: ConnectorStatus,
    /// What it tells of.
    pub event_kinds: Vec<String>,
    /// How it knows the same delivery again.
    #[serde(default)]
    pub dedupe_policy: JsonObject,
    /// How deliveries prove themselves, without the secret.
    #[serde(default)]
    pub auth: JsonObject,
    /// Where deliveries go.
    #[serde(default)]
    pub webhook: JsonObject,
    /// How it asks by itself.
    #[serde(default)]
    pub polling: JsonObject,
    /// The Persona of the Tasks that it makes.
    pub target_persona_id: Option<String>,
    /// The Session of the Tasks that it makes.
    pub target_session_id: Option<String>,
}

/// The body of `PATCH /v1/connectors/{connector_id}`.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UpdateConnectorRequest {
    /// The secret that deliveries are signed with. Never shown again.
    pub secret: Option<String>,
    /// The Session of the Tasks that it makes.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub target_session_id: Change<String>,
    /// The Persona of the Tasks that it makes.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub target_persona_id: Change<String>,
    /// Whether it takes deliveries: `ACTIVE`, `PAUSED` or `DISABLED`.
    pub status: Option<ConnectorStatus>,
}

impl std::fmt::Debug for UpdateConnectorRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpdateConnectorRequest")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl UpdateConnectorRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is malformed, or the secret is too short to keep anybody out.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let secret = object.take_nonblank("secret")?;
        if secret.as_ref().is_some_and(|secret| secret.len() < WEBHOOK_SECRET_BYTES_MIN) {
            let problem = format!("must have at least {WEBHOOK_SECRET_BYTES_MIN} bytes");
            return Err(object.refuse("secret", problem));
        }
        let words = "ACTIVE, PAUSED, DISABLED";
        let settable = |text: &str| {
            ConnectorStatus::parse(text).filter(|status| *status != ConnectorStatus::Failed)
        };
        Ok(Self {
            secret,
            target_session_id: object.take_change("target_session_id")?,
            target_persona_id: object.take_change("target_persona_id")?,
            status: object.take_word("status", words, settable)?,
        })
    }
}

words! {
    /// The word in `object` of the answer to a delivery.
    ConnectorDeliveryObject {
        /// Always this one.
        ConnectorDelivery = "connector_delivery",
    }
}

/// The answer to a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConnectorDelivery {
    /// Always `connector_delivery`.
    pub object: ConnectorDeliveryObject,
    /// The Connector.
    pub connector_id: String,
    /// The Task that the delivery became.
    pub task_id: String,
    /// Always false: whoever repeats a delivery gets its first answer again.
    pub deduplicated: bool,
}
