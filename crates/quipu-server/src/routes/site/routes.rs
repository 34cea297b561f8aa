//! All routes of the server.

use std::sync::Arc;

use axum::{Router, routing::get};

use super::{files, keys, metrics, pages, probes, unknown};
use crate::{
    pipeline::{paths, state::App},
    routes::{akashik, harn, proofs},
};

/// The router of the whole server.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route(paths::HEALTHZ, get(probes::healthz))
        .route(paths::READYZ, get(probes::readyz))
        .route(paths::METRICS, get(metrics::metrics))
        .route(paths::OPENAPI, get(pages::openapi))
        .route(paths::HOME, get(files::home))
        .route(paths::CONSOLE, get(files::file))
        .merge(akashik::router())
        .merge(harn::router())
        .merge(proofs::router())
        .merge(keys::router())
        .fallback(unknown::route)
        .method_not_allowed_fallback(unknown::method)
        .with_state(app)
}
