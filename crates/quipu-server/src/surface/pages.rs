//! What a person or a tool meets first: `/` and `/openapi.json`.

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, Response, StatusCode, header},
};
use std::sync::LazyLock;

use crate::answer::respond;

const HOME: &str = "<!doctype html>
<html lang=\"en\">
<head><meta charset=\"utf-8\"><title>Quipu</title></head>
<body>
<h1>Quipu</h1>
<p>A shared memory for agents. It speaks the Akashik Protocol 0.1.0 under <code>/v1/</code>.</p>
<ul>
<li><a href=\"/openapi.json\">/openapi.json</a>: every route and every field</li>
<li><a href=\"/readyz\">/readyz</a>: whether its Fields take writes</li>
<li><a href=\"/healthz\">/healthz</a>: whether it is up</li>
</ul>
</body>
</html>
";

/// The OpenAPI document, which never changes while the server runs.
static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| Bytes::from(crate::openapi().to_json().unwrap_or_default()));

pub(super) async fn openapi() -> Response<Body> {
    respond(StatusCode::OK, DOCUMENT.to_vec())
}

pub(super) async fn home() -> Response<Body> {
    let mut response = Response::new(Body::from(HOME));
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
