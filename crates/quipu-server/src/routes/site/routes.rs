//! All routes of the server.

use std::sync::Arc;

use axum::{Router, routing::get};

use super::{files, metrics, pages, probes, unknown};
use crate::{
    app::state::App,
    pipeline::paths,
    routes::{akashik, harn, proofs},
    secrets::keys,
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
