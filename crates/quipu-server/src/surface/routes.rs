//! All routes of the server.

use std::sync::Arc;

use axum::{Router, routing::get};

use super::{metrics, pages, probes, unknown};
use crate::{akashik, app::App, harn, paths, proofs};

/// The router of the whole server.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route(paths::HEALTHZ, get(probes::healthz))
        .route(paths::READYZ, get(probes::readyz))
        .route(paths::METRICS, get(metrics::metrics))
        .route(paths::OPENAPI, get(pages::openapi))
        .route(paths::HOME, get(pages::home))
        .merge(akashik::router())
        .merge(harn::router())
        .merge(proofs::router())
        .fallback(unknown::route)
        .method_not_allowed_fallback(unknown::method)
        .with_state(app)
}
