//! The routes of the protocol. One table over all operations: a new one does not compile until it
//! has a handler here.

use std::sync::Arc;

use axum::{
    Router,
    routing::{MethodRouter, get, post},
};
use quipu_wire::akashik::Operation;

use super::{
    attune, compact, coordinate, deregister, detect, handoff, log_follow, merge, own_reads, push,
    reads, record, register, replay, retract, session, subscribe,
};
use crate::pipeline::{paths, state::App};

/// All routes of the protocol.
pub(crate) fn router() -> Router<Arc<App>> {
    let reads = Router::new()
        .route(paths::FIELD_STATUS, get(reads::field_status))
        .route(paths::AGENTS, get(reads::agents))
        .route(paths::CONFLICTS, get(reads::conflicts))
        .route(paths::RECORDS, post(record::records))
        .route(paths::RETRACT, post(retract::retract))
        .route(paths::UNITS, get(own_reads::units))
        .route(paths::UNIT, get(own_reads::unit))
        .route(paths::LOG, get(own_reads::log))
        .route(paths::LOG_FOLLOW, get(log_follow::log_follow))
        .route(paths::SUBSCRIPTIONS, get(own_reads::subscriptions))
        .route(paths::PUSH_EVENTS, get(push::push_events))
        .route(paths::PUSH_WEBSOCKET, get(push::push_websocket));
    Operation::ALL
        .iter()
        .fold(reads, |router, operation| router.route(operation.path(), handler(*operation)))
}

fn handler(operation: Operation) -> MethodRouter<Arc<App>> {
    match operation {
        Operation::Register => post(register::register),
        Operation::Deregister => post(deregister::deregister),
        Operation::Record => post(record::record),
        Operation::Attune => post(attune::attune),
        Operation::Detect => post(detect::detect),
        Operation::Merge => post(merge::merge),
        Operation::Coordinate => post(coordinate::coordinate),
        Operation::Handoff => post(handoff::handoff),
        Operation::Session => post(session::session),
        Operation::Replay => post(replay::replay),
        Operation::Compact => post(compact::compact),
        Operation::Subscribe => post(subscribe::subscribe),
    }
}
