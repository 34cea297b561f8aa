//! The routes of this protocol: one list, in the order of `paths.rs`.

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};

use super::{agent_card, discovery, events, paths, runtime, streams, tasks, work};
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
        .route(paths::TASKS, get(tasks::list_tasks).post(tasks::submit_task))
        .route(paths::TASK, get(tasks::get_task))
        .route(paths::TASK_CANCEL, post(tasks::cancel_task))
        .route(paths::TASK_EVENTS, get(events::list_task_events).post(work::append_event))
        .route(paths::TASK_STREAM, get(streams::stream_task_events))
        .route(paths::TASK_CLAIM, post(work::claim_task))
        .route(paths::TASK_COMPLETE, post(work::complete_task))
        .route(paths::TASK_FAIL, post(work::fail_task))
        .route(paths::TASK_DEPENDENCIES, post(work::record_dependency))
        .route(paths::TASK_CHECKPOINTS, post(work::record_checkpoint))
        .route(paths::EVENTS, get(events::list_events))
        .route(paths::EVENTS_STREAM, get(streams::stream_events))
        .route(paths::EVENT, get(events::get_event))
}
