//! The OpenAPI document, put together from the tables of all routes.

use utoipa::openapi::{
    Info, InfoBuilder, OpenApi, Paths, Server,
    security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    tag::TagBuilder,
};

use crate::{
    pipeline::route::Schemas,
    routes::{all, document_limits, harn},
};

const DESCRIPTION: &str = "A shared memory for agents: the Akashik Protocol 0.1.0 over HTTP. \
    An operation takes its bare payload with headers, or the protocol's whole envelope \
    (`protocol`, `version`, `id`, `operation`, `agent_id`, `session_id`, `epoch`, `payload`). \
    It answers with the bare payload. Every error is the error object.";

/// The document that `/openapi.json` serves.
#[must_use]
pub fn openapi() -> OpenApi {
    let (mut paths, mut schemas) = (Paths::new(), Schemas::new());
    for route in all::routes() {
        route.document(&mut paths, &mut schemas);
    }
    document_limits::complete(&mut schemas);
    let mut document = OpenApi::new(Info::default(), paths);
    document.servers = Some(vec![Server::new("/")]);
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
        TagBuilder::new()
            .name("proofs")
            .description(Some("Proofs about the log (Quipu's extension)"))
            .build(),
        TagBuilder::new().name("quipu").description(Some("Ours beyond the protocol")).build(),
        TagBuilder::new().name("server").description(Some("Running the server")).build(),
    ]);
    let key = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A key made by `quipu key create`; none is needed under `--dev`."))
        .build();
    let components = document.components.get_or_insert_default();
    components.schemas = schemas;
    components.add_security_scheme("key", SecurityScheme::Http(key));
    components.add_security_scheme("oauth2", harn::security_scheme());
    document
}
