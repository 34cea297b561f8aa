//! What anybody may ask, without a key or a version: what is spoken here, and whether the server is up.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use quipu_wire::harn::{
    Discovery, DiscoveryCapabilities, DiscoveryObject, HarnVersion, Health, ProtocolFamily,
    RuntimeObject, ServerVersion, VERSION_HEADER,
};

use crate::pipeline::{harn_answer::HarnAnswer, harn_paths, paths as others};

pub(super) const SERVER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where resources are, by name.
const RESOURCES: [(&str, &str); 16] = [
    ("agent_card", harn_paths::AGENT_CARD),
    ("runtime", harn_paths::RUNTIME),
    ("capabilities", harn_paths::CAPABILITIES),
    ("personas", harn_paths::PERSONAS),
    ("workspaces", harn_paths::WORKSPACES),
    ("sessions", harn_paths::SESSIONS),
    ("tasks", harn_paths::TASKS),
    ("artifacts", harn_paths::ARTIFACTS),
    ("events", harn_paths::EVENTS),
    ("memories", harn_paths::MEMORIES),
    ("vaults", harn_paths::VAULTS),
    ("connectors", harn_paths::CONNECTORS),
    ("skills", harn_paths::SKILLS),
    ("outcomes", harn_paths::OUTCOMES),
    ("quotas", harn_paths::QUOTAS),
    ("permission_requests", harn_paths::PERMISSION_REQUESTS),
];

/// The version that the caller named, or the default.
pub(super) fn named_version(headers: &HeaderMap) -> HarnVersion {
    HarnVersion::current_for(headers.get(VERSION_HEADER).map(|value| value.as_bytes()))
}

/// Says which versions are spoken and what is implemented.
#[utoipa::path(
    get,
    path = "/v1",
    operation_id = "getProtocolDiscovery",
    tag = "harn",
    responses((status = 200, description = "What is spoken here.", body = Discovery)),
)]
pub(super) async fn discovery(headers: HeaderMap) -> HarnAnswer<Discovery> {
    let resources = RESOURCES.map(|(name, path)| (name.to_owned(), path.to_owned()));
    HarnAnswer::ok(Discovery {
        object: DiscoveryObject::ProtocolDiscovery,
        protocol_family: ProtocolFamily::HarnAgentsProtocol,
        current_version: named_version(&headers),
        supported_versions: HarnVersion::ALL.to_vec(),
        capabilities: DiscoveryCapabilities {
            rest: true,
            sse: true,
            websocket: true,
            receipts: true,
            replay: true,
        },
        version: Some(SERVER_VERSION.to_owned()),
        openapi: Some(others::OPENAPI.to_owned()),
        resources: BTreeMap::from(resources),
    })
}

/// Says that the server is up.
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "getHealth",
    tag = "harn",
    responses((status = 200, description = "The server is up.", body = Health)),
)]
pub(super) async fn health() -> HarnAnswer<Health> {
    let (status, version) = ("ok".to_owned(), SERVER_VERSION.to_owned());
    HarnAnswer::ok(Health { ok: true, status, version })
}

/// Says which server this is.
#[utoipa::path(
    get,
    path = "/version",
    operation_id = "getVersion",
    tag = "harn",
    responses((status = 200, description = "The versions.", body = ServerVersion)),
)]
pub(super) async fn version(headers: HeaderMap) -> HarnAnswer<ServerVersion> {
    HarnAnswer::ok(ServerVersion {
        object: RuntimeObject::Version,
        version: SERVER_VERSION.to_owned(),
        protocol_version: named_version(&headers),
    })
}
