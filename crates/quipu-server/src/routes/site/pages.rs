//! What a tool meets first: `/openapi.json`.

use std::sync::LazyLock;

use axum::{
    body::{Body, Bytes},
    http::{Response, StatusCode},
};

use crate::pipeline::answer::respond;

pub(crate) const OPENAPI: &str = "/openapi.json";

/// The OpenAPI document, which never changes while the server runs.
static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| Bytes::from(crate::routes::openapi().to_json().unwrap_or_default()));

pub(super) async fn openapi() -> Response<Body> {
    respond(StatusCode::OK, DOCUMENT.to_vec())
}
