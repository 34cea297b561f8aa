//! The routes of the protocol. One table over all operations: a new one does not compile until it
//! has a handler here.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    routing::{MethodRouter, get, post},
};
use quipu_wire::akashik::Operation;

use super::{attune, deregister, detect, push, reads, record, register, subscribe, unsupported};
use crate::{app::App, paths};

/// All routes of the protocol.
pub(crate) fn router() -> Router<Arc<App>> {
    let reads = Router::new()
        .route(paths::FIELD_STATUS, get(reads::field_status))
        .route(paths::AGENTS, get(reads::agents))
        .route(paths::CONFLICTS, get(reads::conflicts))
        .route(paths::PUSH_EVENTS, get(push::push_events))
        .route(paths::PUSH_WEBSOCKET, get(push::push_websocket));
    Operation::ALL
        .iter()
        .fold(reads, |router, operation| router.route(paths::of(*operation), handler(*operation)))
}

fn handler(operation: Operation) -> MethodRouter<Arc<App>> {
    match operation {
        Operation::Register => post(register::register),
        Operation::Deregister => post(deregister::deregister),
        Operation::Record => post(record::record),
        Operation::Attune => post(attune::attune),
        Operation::Detect => post(detect::detect),
        Operation::Subscribe => post(subscribe::subscribe),
        Operation::Merge
        | Operation::Replay
        | Operation::Compact
        | Operation::Coordinate
        | Operation::Handoff
        | Operation::Session => {
            post(move |State(app): State<Arc<App>>, request: Request| async move {
                unsupported::unsupported(&app, operation, request).await
            })
        }
    }
}
