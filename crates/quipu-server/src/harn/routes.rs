//! The routes of this protocol: one list, in the order of `paths.rs`.

use std::sync::Arc;

use axum::{Router, routing::get};

use super::{agent_card, discovery, paths, runtime};
use crate::app::App;

/// All routes of this protocol.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route(paths::DISCOVERY, get(discovery::discovery))
        .route(paths::AGENT_CARD, get(agent_card::agent_card))
        .route(paths::HEALTH, get(discovery::health))
        .route(paths::VERSION, get(discovery::version))
        .route(paths::RUNTIME, get(runtime::runtime))
        .route(paths::CAPABILITIES, get(runtime::capability_summary))
}
