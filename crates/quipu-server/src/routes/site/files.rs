//! The console: its files at `/` and below `/console/`, for everybody. What it shows it asks for over the public
//! API, with a key; the files themselves hold nothing of a Field.

use axum::{
    body::{Body, Bytes},
    extract::Path,
    http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header},
    response::IntoResponse as _,
};
use quipu_console::{Asset, INDEX};
use quipu_wire::ErrorCode;

use crate::pipeline::answer::Refused;

/// Nothing from elsewhere, nothing inline, nothing from text, and in nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
    require-trusted-types-for 'script'";

const GUARDS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // A new binary brings new files: a browser asks each time, and is mostly told that it has them.
    (header::CACHE_CONTROL, "no-cache"),
    (header::VARY, "accept-encoding"),
];

pub(super) async fn home(headers: HeaderMap) -> Response<Body> {
    serve(INDEX, &headers)
}

pub(super) async fn file(Path(path): Path<String>, headers: HeaderMap) -> Response<Body> {
    serve(&path, &headers)
}

fn serve(path: &str, headers: &HeaderMap) -> Response<Body> {
    let Some(asset) = quipu_console::find(path) else {
        let message = format!("the console has no file {path:?}");
        return Refused::new(ErrorCode::RouteNotFound, message).into_response();
    };
    let mut response = answer(asset, headers);
    let fields = response.headers_mut();
    for (name, value) in GUARDS {
        fields.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(etag) = HeaderValue::from_str(&asset.etag) {
        fields.insert(header::ETAG, etag);
    }
    response
}

fn answer(asset: &'static Asset, headers: &HeaderMap) -> Response<Body> {
    if says(headers, header::IF_NONE_MATCH, &asset.etag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let packed = says(headers, header::ACCEPT_ENCODING, "gzip");
    let bytes: &'static [u8] = if packed { asset.gzip() } else { asset.bytes };
    let mut response = Response::new(Body::from(Bytes::from_static(bytes)));
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    if packed {
        fields.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn says(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let lines = headers.get_all(name);
    let mut texts = lines.iter().filter_map(|line| line.to_str().ok());
    texts
        .any(|line| line.split([',', ';']).any(|part| part.trim().trim_start_matches("W/") == word))
}
