//! The routes of this protocol: one list, in the order of `paths.rs`.

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post, put},
};

use super::{
    agent_card, artifacts, connectors, discovery, events, outcomes, paths, receipts, replay,
    runtime, streams, tasks, vaults, work,
};
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
        .route(
            paths::SESSION_TASKS,
            get(tasks::list_session_tasks).post(tasks::submit_session_task),
        )
        .route(paths::SESSION_EVENTS, get(events::list_session_events))
        .route(paths::SESSION_EVENTS_STREAM, get(streams::stream_session_events))
        .route(paths::SESSION_REPLAY, post(replay::replay_session))
        .route(paths::TASKS, get(tasks::list_tasks).post(tasks::submit_task))
        .route(paths::TASKS_IMPORT, post(replay::import_task))
        .route(paths::TASK, get(tasks::get_task))
        .route(paths::TASK_CANCEL, post(tasks::cancel_task))
        .route(paths::TASK_REPLAY, post(replay::replay_task))
        .route(paths::TASK_DIVERGENCE, get(replay::divergence))
        .route(paths::TASK_EXPORT, get(replay::export_task))
        .route(paths::TASK_EVENTS, get(events::list_task_events).post(work::append_event))
        .route(paths::TASK_STREAM, get(streams::stream_task_events))
        .route(paths::TASK_CLAIM, post(work::claim_task))
        .route(paths::TASK_COMPLETE, post(work::complete_task))
        .route(paths::TASK_FAIL, post(work::fail_task))
        .route(paths::TASK_DEPENDENCIES, post(work::record_dependency))
        .route(paths::TASK_DEPENDENCIES_RESOLVE, post(replay::resolve_dependency))
        .route(paths::TASK_CHECKPOINTS, post(work::record_checkpoint))
        .route(paths::TASK_RECEIPTS, get(receipts::list_task_receipts))
        .route(paths::ARTIFACTS, get(artifacts::list_artifacts).post(artifacts::register_artifact))
        .route(paths::ARTIFACT, get(artifacts::get_artifact))
        .route(
            paths::ARTIFACT_CONTENT,
            get(artifacts::download_content).put(artifacts::upload_content),
        )
        .route(paths::RECEIPT, get(receipts::get_receipt))
        .route(paths::RECEIPT_VERIFY, post(receipts::verify_receipt))
        .route(paths::VAULTS, get(vaults::list_vaults).post(vaults::create_vault))
        .route(paths::VAULT, get(vaults::get_vault))
        .route(paths::VAULT_SECRET, put(vaults::put_secret))
        .route(paths::CONNECTORS, get(connectors::list_connectors))
        .route(paths::CONNECTOR, get(connectors::get_connector).patch(connectors::update_connector))
        .route(paths::CONNECTOR_DELIVERIES, post(connectors::deliver))
        .route(paths::OUTCOMES, get(outcomes::list_outcomes))
        .route(paths::OUTCOME, get(outcomes::get_outcome))
        .route(paths::EVENTS, get(events::list_events))
        .route(paths::EVENTS_STREAM, get(streams::stream_events))
        .route(paths::EVENT, get(events::get_event))
}
