//! `/metrics`, for Prometheus. Needs any valid key, except in `--dev`.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, Response, header},
};
use quipu_wire::ErrorCode;

use crate::{
    limits::STREAMS_MAX,
    observe::metrics::{gauge_fields, gauge_keeping, gauge_streams},
    pipeline::{answer::Refused, auth, state::App},
};

pub(super) async fn metrics(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response<Body>, Refused> {
    auth::uncounted_credential(&app, &headers)?;
    let counting = tokio::task::spawn_blocking(move || {
        gauge_keeping(&app.fields);
        gauge_fields(&app.fields.opened(), app.uptime.elapsed());
        gauge_streams(STREAMS_MAX.saturating_sub(app.streams.available_permits()));
        app.metrics.render()
    });
    let text = counting.await.map_err(|error| {
        Refused::new(ErrorCode::InternalError, format!("the counts failed: {error}"))
    })?;
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
