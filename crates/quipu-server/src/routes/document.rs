//! The OpenAPI document, put together from what stands beside each handler.

use utoipa::{
    OpenApi as _,
    openapi::{
        InfoBuilder, OpenApi,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
        tag::TagBuilder,
    },
};

use crate::routes::{
    akashik::AkashikApi,
    harn::{self, HarnApi},
    proofs::ProofApi,
    site::{KeyApi, SurfaceApi},
};

const DESCRIPTION: &str = "A shared memory for agents: the Akashik Protocol 0.1.0 over HTTP. \
    An operation takes its bare payload with headers, or the protocol's whole envelope \
    (`protocol`, `version`, `id`, `operation`, `agent_id`, `session_id`, `epoch`, `payload`). \
    It answers with the bare payload. Every error is the error object.";

/// The document that `/openapi.json` serves.
#[must_use]
pub fn openapi() -> OpenApi {
    let mut document = AkashikApi::openapi();
    document.merge(HarnApi::openapi());
    document.merge(ProofApi::openapi());
    document.merge(KeyApi::openapi());
    document.merge(SurfaceApi::openapi());
    document.info = InfoBuilder::new()
        .title("Quipu")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .build();
    document.tags = Some(vec![
        TagBuilder::new().name("akashik").description(Some("The protocol")).build(),
        TagBuilder::new()
            .name("harn")
            .description(Some("The Harn Agents Protocol v1: needs its version header"))
            .build(),
        TagBuilder::new().name("proofs").description(Some("Proofs about the log (ours)")).build(),
        TagBuilder::new().name("quipu").description(Some("Ours beyond the protocol")).build(),
        TagBuilder::new().name("server").description(Some("Running the server")).build(),
    ]);
    let key = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A key made by `quipu key create`; none is needed under `--dev`."))
        .build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("key", SecurityScheme::Http(key));
    components.add_security_scheme("oauth2", harn::security_scheme());
    document
}
