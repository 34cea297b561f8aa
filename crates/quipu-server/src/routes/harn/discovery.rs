//! What anybody may ask, without a key or a version: what is spoken here, and whether the server is up.

use std::{collections::BTreeMap, sync::LazyLock};

use axum::http::HeaderMap;
use quipu_wire::harn::{
    Discovery, DiscoveryCapabilities, DiscoveryObject, HarnVersion, Health, ProtocolFamily,
    RuntimeObject, ServerVersion, VERSION_HEADER,
};

use utoipa::openapi::HttpMethod;

use super::table::routes;
use crate::{pipeline::harn_answer::HarnAnswer, routes::site::OPENAPI};

pub(super) const SERVER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where resources are, by name: what is read at `/v1/NAME`.
static RESOURCES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let read = routes().into_iter().filter(|route| route.method == HttpMethod::Get);
    let names = read.filter_map(|route| route.path.strip_prefix("/v1/"));
    let names = names.filter(|name| !name.contains('/'));
    names.map(|name| (name.replace('-', "_"), format!("/v1/{name}"))).collect()
});

/// The version that the caller named, or the default.
pub(super) fn named_version(headers: &HeaderMap) -> HarnVersion {
    HarnVersion::current_for(headers.get(VERSION_HEADER).map(|value| value.as_bytes()))
}

pub(super) async fn discovery(headers: HeaderMap) -> HarnAnswer<Discovery> {
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
        openapi: Some(OPENAPI.to_owned()),
        resources: RESOURCES.clone(),
    })
}

pub(super) async fn health() -> HarnAnswer<Health> {
    let (status, version) = ("ok".to_owned(), SERVER_VERSION.to_owned());
    HarnAnswer::ok(Health { ok: true, status, version })
}

pub(super) async fn version(headers: HeaderMap) -> HarnAnswer<ServerVersion> {
    HarnAnswer::ok(ServerVersion {
        object: RuntimeObject::Version,
        version: SERVER_VERSION.to_owned(),
        protocol_version: named_version(&headers),
    })
}
