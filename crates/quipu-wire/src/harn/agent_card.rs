//! The agent card: who this server is and what it speaks, around a card of the A2A protocol. The published
//! schema and the published suite disagree on `object` and `interfaces`; both spellings are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{HarnVersion, JsonObject, Quota, ResourceEnvelope, Skill};
use crate::words::words;

words! {
    /// The word in `object` of a card: the suite names the version and wants the first, everybody else the second.
    CardObject {
        /// For callers that send the version header.
        AgentCard = "agent_card",
        /// For all others.
        HarnAgentCard = "harn_agent_card",
    }
}

words! {
    /// How this protocol can be spoken.
    Transport {
        /// Requests.
        Rest = "rest",
        /// Streams of events.
        Sse = "sse",
        /// Both ways.
        Websocket = "websocket",
        /// As A2A.
        A2a = "a2a",
        /// As MCP.
        Mcp = "mcp",
        /// As ACP.
        Acp = "acp",
    }
}

/// One way to speak to this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HarnAgentInterface {
    /// The transport that it speaks.
    pub transport: Transport,
    /// The address that it is reached at.
    pub url: String,
}

/// A signature of a card or a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CardSignature {
    /// How it was made.
    pub algorithm: String,
    /// With which key.
    pub key_id: String,
    /// The signature.
    pub value: String,
}

/// The card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HarnAgentCard {
    /// Always `agent_card` or `harn_agent_card`.
    pub object: CardObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// Who this is.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The version that the caller named, or the default.
    pub protocol_version: HarnVersion,
    /// The card as A2A knows it.
    pub a2a_card: A2aAgentCard,
    /// What can be done here.
    pub skills: Vec<Skill>,
    /// How to speak to this server.
    #[serde(default)]
    pub harn_interfaces: Vec<HarnAgentInterface>,
    /// `harn_interfaces` again.
    #[serde(default)]
    pub interfaces: Vec<HarnAgentInterface>,
    /// The Personas that can be named.
    #[serde(default)]
    pub persona_ids: Vec<String>,
    /// What is implemented.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// How callers prove themselves.
    #[serde(default)]
    pub auth_schemes: Vec<String>,
    /// Whether Tasks have receipts.
    pub receipt_policy: Option<String>,
    /// The limits that everybody may know.
    #[serde(default)]
    pub quotas: Vec<Quota>,
    /// Who runs it.
    #[serde(default)]
    pub provider: JsonObject,
    /// Where it is.
    pub public_url: Option<String>,
    /// Who vouches for the card.
    pub signature: Option<CardSignature>,
}

/// A card of the A2A protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct A2aAgentCard {
    /// Who this is.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How to speak A2A to it; at least one.
    #[serde(default)]
    pub supported_interfaces: Vec<A2aAgentInterface>,
    /// The first of them by the name that later cards use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_transport: Option<String>,
    /// The others, where later cards look for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_interfaces: Vec<A2aAgentInterface>,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<A2aAgentProvider>,
    /// The version of the agent.
    pub version: String,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// What it can do.
    pub capabilities: A2aAgentCapabilities,
    /// How callers can prove themselves.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, JsonObject>,
    /// Which of them are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security: Vec<BTreeMap<String, Vec<String>>>,
    /// What it takes.
    pub default_input_modes: Vec<String>,
    /// What it gives.
    pub default_output_modes: Vec<String>,
    /// What it can do.
    pub skills: Vec<A2aAgentSkill>,
    /// Who vouches for the card.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<A2aAgentCardSignature>,
    /// A picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

/// One way to speak A2A.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct A2aAgentInterface {
    /// The address that it is reached at.
    pub url: String,
    /// How, such as `HTTP+JSON`.
    pub protocol_binding: String,
    /// For whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Which version.
    pub protocol_version: String,
}

/// Who runs an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct A2aAgentProvider {
    /// The name.
    pub organization: String,
    /// Where to read more.
    pub url: String,
}

/// What an agent can do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct A2aAgentCapabilities {
    /// Whether it streams.
    #[serde(default)]
    pub streaming: bool,
    /// Whether it calls back.
    #[serde(default)]
    pub push_notifications: bool,
    /// What it does beyond A2A.
    #[serde(default)]
    pub extensions: Vec<JsonObject>,
    /// Whether callers that prove themselves get a longer card.
    #[serde(default)]
    pub extended_agent_card: bool,
}

/// A skill as A2A knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct A2aAgentSkill {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Words for it.
    pub tags: Vec<String>,
    /// How it is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// What it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// What it gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// What it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security: Vec<BTreeMap<String, Vec<String>>>,
    /// What it takes, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<JsonObject>,
}

/// A signature of a card of A2A.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct A2aAgentCardSignature {
    /// The protected header.
    pub protected: String,
    /// The signature.
    pub signature: String,
    /// The open header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<JsonObject>,
}
