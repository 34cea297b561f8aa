//! The routes of this protocol: one list, in the order of `paths.rs`.

use std::sync::Arc;

use axum::{
    Router,
    routing::{delete, get, post, put},
};

use super::{
    agent_card, artifacts, branches, connectors, discovery, events, memories, messages, outcomes,
    paths, permission_requests, permissions, personas, quotas, receipts, replay, runtime, sessions,
    skills, streams, tasks, vaults, work, workspaces,
};
use crate::app::state::App;

/// All routes of this protocol.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route(paths::DISCOVERY, get(discovery::discovery))
        .route(paths::AGENT_CARD, get(agent_card::agent_card))
        .route(paths::HEALTH, get(discovery::health))
        .route(paths::VERSION, get(discovery::version))
        .route(paths::RUNTIME, get(runtime::runtime))
        .route(paths::CAPABILITIES, get(runtime::capability_summary))
        .route(paths::PERSONAS, get(personas::list_personas).post(personas::create_persona))
        .route(paths::PERSONA, get(personas::get_persona).patch(personas::update_persona))
        .route(
            paths::WORKSPACES,
            get(workspaces::list_workspaces).post(workspaces::create_workspace),
        )
        .route(paths::WORKSPACE, get(workspaces::get_workspace).patch(workspaces::update_workspace))
        .merge(session_routes())
        .merge(permission_routes())
        .merge(kept_routes())
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
        .route(paths::EVENTS, get(events::list_events))
        .route(paths::EVENTS_STREAM, get(streams::stream_events))
        .route(paths::EVENT, get(events::get_event))
}

/// Sessions, and what belongs to them.
fn session_routes() -> Router<Arc<App>> {
    Router::new()
        .route(paths::SESSIONS, get(sessions::list_sessions).post(sessions::create_session))
        .route(paths::SESSION, get(sessions::get_session).patch(sessions::update_session))
        .route(paths::SESSION_CLOSE, post(sessions::close_session))
        .route(paths::SESSION_FORK, post(sessions::fork_session))
        .route(paths::SESSION_TRUNCATE, post(sessions::truncate_session))
        .route(
            paths::SESSION_MESSAGES,
            get(messages::list_session_messages).post(messages::append_session_message),
        )
        .route(
            paths::SESSION_BRANCHES,
            get(branches::list_session_branches).post(branches::create_session_branch),
        )
        .route(paths::BRANCH, get(branches::get_branch))
        .route(paths::MESSAGE, get(messages::get_message))
        .route(paths::TASK_MESSAGES, post(messages::append_task_message))
        .route(paths::MEMORIES, get(memories::list_memories).post(memories::create_memory))
        .route(paths::MEMORY, get(memories::get_memory).delete(memories::delete_memory))
        .route(paths::SKILLS, get(skills::list_skills))
        .route(paths::SKILL, get(skills::get_skill))
        .route(paths::QUOTAS, get(quotas::list_quotas).post(quotas::create_quota))
        .route(paths::QUOTA, get(quotas::get_quota).patch(quotas::update_quota))
}

/// What Tasks leave behind, what is kept for them, and the way in from outside.
fn kept_routes() -> Router<Arc<App>> {
    Router::new()
        .route(paths::TASK_RECEIPTS, get(receipts::list_task_receipts))
        .route(paths::ARTIFACTS, get(artifacts::list_artifacts).post(artifacts::register_artifact))
        .route(paths::ARTIFACT, get(artifacts::get_artifact))
        .route(
            paths::ARTIFACT_CONTENT,
            get(artifacts::download_content)
                .put(artifacts::upload_content)
                .delete(artifacts::redact_content),
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
}

/// What may be done, and who is asked.
fn permission_routes() -> Router<Arc<App>> {
    Router::new()
        .route(paths::TASK_AWAIT, post(permission_requests::await_answer))
        .route(
            paths::TASK_PERMISSION_REQUESTS,
            get(permission_requests::list_task_permission_requests),
        )
        .route(paths::PERMISSION_REQUESTS, get(permission_requests::list_permission_requests))
        .route(paths::PERMISSION_RESPOND, post(permission_requests::respond_permission_request))
        .route(
            paths::PERMISSION_POLICY,
            get(permissions::get_permission_policy).put(permissions::install_permission_policy),
        )
        .route(
            paths::PERMISSION_RULES,
            get(permissions::list_permission_rules).post(permissions::create_permission_rule),
        )
        .route(paths::PERMISSION_RULE, delete(permissions::revoke_permission_rule))
        .route(paths::PERMISSION_HISTORY, get(permissions::permission_history))
        .route(paths::PERMISSION_CHECK, post(permissions::check_permission))
}
