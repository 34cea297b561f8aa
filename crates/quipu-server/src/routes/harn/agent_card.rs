//! The agent card: who this server is and what it speaks, with the public keys of its receipts, signed by the
//! first of them. What is signed is the digest of the canonical card without `signature`.

use std::{collections::BTreeMap, sync::Arc};

use axum::{extract::State, http::HeaderMap};
use quipu_harness::{PERSONA_FIELD, built_in_skill};
use quipu_replay::receipt::SIGNATURE_ALGORITHM;
use quipu_wire::{
    harn::{
        A2aAgentCapabilities, A2aAgentCard, A2aAgentInterface, A2aAgentSkill, CardObject,
        CardSignature, HarnAgentCard, HarnAgentInterface, HarnErrorCode, HarnVersion, JsonObject,
        ResourceEnvelope, Sha256, Transport, VERSION_HEADER,
    },
    json::timestamp::rfc3339,
};
use serde_json::json;

use super::{
    discovery::{SERVER_VERSION, named_version},
    runtime::CAPABILITIES,
};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

const DESCRIPTION: &str =
    "A shared memory for teams of agents that can be trusted, explained and replayed";
const JSON: &str = "application/json";

pub(super) async fn agent_card(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> HarnOutcome<HarnAgentCard> {
    let mut card = unsigned(&app, &headers);
    let hash = digest(&card).ok_or_else(|| {
        HarnRefused::new(HarnErrorCode::InternalError, "the card has no canonical form")
    })?;
    let signed = app.receipts.sign(&hash, None);
    card.signature = Some(CardSignature {
        algorithm: signed.algorithm,
        key_id: signed.key_id,
        value: signed.signature,
    });
    Ok(HarnAnswer::ok(card))
}

/// The digest of a card without its signature.
fn digest(card: &HarnAgentCard) -> Option<Sha256> {
    let mut value = serde_json::to_value(card).ok()?;
    value.as_object_mut()?.remove("signature");
    Sha256::of_json(&value).ok()
}

fn unsigned(app: &App, headers: &HeaderMap) -> HarnAgentCard {
    let public_url = app.public_url.trim_end_matches('/');
    let interface =
        |transport, path| HarnAgentInterface { transport, url: format!("{public_url}{path}") };
    let interfaces = vec![
        interface(Transport::Rest, "/v1"),
        interface(Transport::Sse, "/v1/events/stream"),
        // `https` becomes `wss`.
        HarnAgentInterface {
            transport: Transport::Websocket,
            url: format!("{}{}", public_url.replacen("http", "ws", 1), "/v1/tasks"),
        },
    ];
    let since = rfc3339(app.started_at_ms);
    let key_id = app.receipts.public().key_id();
    let mut envelope = ResourceEnvelope::new(format!("agent_card_{key_id}"), since);
    envelope.metadata = metadata(app);
    // Only a caller that names the version expects the word of the first draft.
    let object = if headers.contains_key(VERSION_HEADER) {
        CardObject::AgentCard
    } else {
        CardObject::HarnAgentCard
    };
    HarnAgentCard {
        object,
        envelope,
        name: app.issuer.name.clone(),
        description: DESCRIPTION.to_owned(),
        protocol_version: named_version(headers),
        a2a_card: a2a_card(app, public_url),
        skills: vec![built_in_skill()],
        harn_interfaces: interfaces.clone(),
        interfaces,
        // Others are a Field's own, and for those with a credential.
        persona_ids: vec![PERSONA_FIELD.to_owned()],
        capabilities: CAPABILITIES.map(|(id, _)| id.to_owned()).to_vec(),
        auth_schemes: auth_schemes(app),
        receipt_policy: Some("required".to_owned()),
        quotas: Vec::new(),
        provider: JsonObject::with("name", app.issuer.name.as_str()),
        public_url: Some(public_url.to_owned()),
        signature: None,
    }
}

/// The keys that receipts are signed with, and who issues them.
fn metadata(app: &App) -> JsonObject {
    let key = app.receipts.public();
    let mut metadata = JsonObject::with(
        "receipt_keys",
        json!([{
            "key_id": key.key_id(),
            "algorithm": SIGNATURE_ALGORITHM,
            "public_key": key.material(),
        }]),
    );
    let issuer = json!({
        "id": app.issuer.id, "name": app.issuer.name, "policy_ref": app.issuer.policy_ref,
    });
    metadata.insert("receipt_issuer".to_owned(), issuer);
    metadata
}

/// How callers prove themselves. Tokens are an identity provider's: this server has no endpoint for them.
fn auth_schemes(app: &App) -> Vec<String> {
    if app.dev {
        return Vec::new();
    }
    let tokens = app.tokens.is_some().then(|| "oauth2_client_credentials".to_owned());
    [Some("api_key".to_owned()), tokens].into_iter().flatten().collect()
}

/// The card as A2A shapes it. What is spoken at its interface is this protocol, as the binding says.
fn a2a_card(app: &App, public_url: &str) -> A2aAgentCard {
    const BINDING: &str = "harn-agents-protocol";
    let skill = built_in_skill();
    let interfaces = HarnVersion::ALL.iter().map(|version| A2aAgentInterface {
        url: format!("{public_url}{}", "/v1"),
        protocol_binding: BINDING.to_owned(),
        tenant: None,
        protocol_version: version.to_string(),
    });
    let supported: Vec<A2aAgentInterface> = interfaces.collect();
    let mut scheme = JsonObject::with("type", "http");
    scheme.insert("scheme".to_owned(), "bearer".into());
    A2aAgentCard {
        name: app.issuer.name.clone(),
        description: DESCRIPTION.to_owned(),
        preferred_transport: Some(BINDING.to_owned()),
        additional_interfaces: supported.iter().skip(1).cloned().collect(),
        supported_interfaces: supported,
        provider: None,
        version: SERVER_VERSION.to_owned(),
        documentation_url: None,
        capabilities: A2aAgentCapabilities { streaming: true, ..A2aAgentCapabilities::default() },
        security_schemes: BTreeMap::from([("bearer".to_owned(), scheme)]),
        security: vec![BTreeMap::from([("bearer".to_owned(), Vec::new())])],
        default_input_modes: vec![JSON.to_owned()],
        default_output_modes: vec![JSON.to_owned()],
        skills: vec![A2aAgentSkill {
            id: skill.envelope.id,
            name: skill.name,
            description: skill.description,
            tags: vec!["memory".to_owned(), "ranking".to_owned()],
            examples: Vec::new(),
            input_modes: Vec::new(),
            output_modes: Vec::new(),
            security: Vec::new(),
            input_schema: None,
        }],
        signatures: Vec::new(),
        icon_url: None,
    }
}
