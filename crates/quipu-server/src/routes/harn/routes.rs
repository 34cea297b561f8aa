//! The routes of this protocol: one list, in the order of `harn_paths`.

use std::sync::Arc;

use axum::{
    Router,
    routing::{delete, get, post, put},
};

use super::{
    agent_card, artifacts, branches, connectors, discovery, events, memories, messages, outcomes,
    permission_requests, permissions, personas, quotas, receipts, replay, runtime, sessions,
    skills, streams, tasks, vaults, work, workspaces,
};
use crate::pipeline::{harn_paths, state::App};

/// All routes of this protocol.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route(harn_paths::DISCOVERY, get(discovery::discovery))
        .route(harn_paths::AGENT_CARD, get(agent_card::agent_card))
        .route(harn_paths::HEALTH, get(discovery::health))
        .route(harn_paths::VERSION, get(discovery::version))
        .route(harn_paths::RUNTIME, get(runtime::runtime))
        .route(harn_paths::CAPABILITIES, get(runtime::capability_summary))
        .route(harn_paths::PERSONAS, get(personas::list_personas).post(personas::create_persona))
        .route(harn_paths::PERSONA, get(personas::get_persona).patch(personas::update_persona))
        .route(
            harn_paths::WORKSPACES,
            get(workspaces::list_workspaces).post(workspaces::create_workspace),
        )
        .route(
            harn_paths::WORKSPACE,
            get(workspaces::get_workspace).patch(workspaces::update_workspace),
        )
        .merge(session_routes())
        .merge(permission_routes())
        .merge(kept_routes())
        .route(
            harn_paths::SESSION_TASKS,
            get(tasks::list_session_tasks).post(tasks::submit_session_task),
        )
        .route(harn_paths::SESSION_EVENTS, get(events::list_session_events))
        .route(harn_paths::SESSION_EVENTS_STREAM, get(streams::stream_session_events))
        .route(harn_paths::SESSION_REPLAY, post(replay::replay_session))
        .route(harn_paths::TASKS, get(tasks::list_tasks).post(tasks::submit_task))
        .route(harn_paths::TASKS_IMPORT, post(replay::import_task))
        .route(harn_paths::TASK, get(tasks::get_task))
        .route(harn_paths::TASK_CANCEL, post(tasks::cancel_task))
        .route(harn_paths::TASK_REPLAY, post(replay::replay_task))
        .route(harn_paths::TASK_DIVERGENCE, get(replay::divergence))
        .route(harn_paths::TASK_EXPORT, get(replay::export_task))
        .route(harn_paths::TASK_EVENTS, get(events::list_task_events).post(work::append_event))
        .route(harn_paths::TASK_STREAM, get(streams::stream_task_events))
        .route(harn_paths::TASK_CLAIM, post(work::claim_task))
        .route(harn_paths::TASK_COMPLETE, post(work::complete_task))
        .route(harn_paths::TASK_FAIL, post(work::fail_task))
        .route(harn_paths::TASK_DEPENDENCIES, post(work::record_dependency))
        .route(harn_paths::TASK_DEPENDENCIES_RESOLVE, post(replay::resolve_dependency))
        .route(harn_paths::TASK_CHECKPOINTS, post(work::record_checkpoint))
        .route(harn_paths::EVENTS, get(events::list_events))
        .route(harn_paths::EVENTS_STREAM, get(streams::stream_events))
        .route(harn_paths::EVENT, get(events::get_event))
}

/// Sessions, and what belongs to them.
fn session_routes() -> Router<Arc<App>> {
    Router::new()
        .route(harn_paths::SESSIONS, get(sessions::list_sessions).post(sessions::create_session))
        .route(harn_paths::SESSION, get(sessions::get_session).patch(sessions::update_session))
        .route(harn_paths::SESSION_CLOSE, post(sessions::close_session))
        .route(harn_paths::SESSION_FORK, post(sessions::fork_session))
        .route(harn_paths::SESSION_TRUNCATE, post(sessions::truncate_session))
        .route(
            harn_paths::SESSION_MESSAGES,
            get(messages::list_session_messages).post(messages::append_session_message),
        )
        .route(
            harn_paths::SESSION_BRANCHES,
            get(branches::list_session_branches).post(branches::create_session_branch),
        )
        .route(harn_paths::BRANCH, get(branches::get_branch))
        .route(harn_paths::MESSAGE, get(messages::get_message))
        .route(harn_paths::TASK_MESSAGES, post(messages::append_task_message))
        .route(harn_paths::MEMORIES, get(memories::list_memories).post(memories::create_memory))
        .route(harn_paths::MEMORY, get(memories::get_memory).delete(memories::delete_memory))
        .route(harn_paths::SKILLS, get(skills::list_skills))
        .route(harn_paths::SKILL, get(skills::get_skill))
        .route(harn_paths::QUOTAS, get(quotas::list_quotas).post(quotas::create_quota))
        .route(harn_paths::QUOTA, get(quotas::get_quota).patch(quotas::update_quota))
}

/// What Tasks leave behind, what is kept for them, and the way in from outside.
fn kept_routes() -> Router<Arc<App>> {
    Router::new()
        .route(harn_paths::TASK_RECEIPTS, get(receipts::list_task_receipts))
        .route(
            harn_paths::ARTIFACTS,
            get(artifacts::list_artifacts).post(artifacts::register_artifact),
        )
        .route(harn_paths::ARTIFACT, get(artifacts::get_artifact))
        .route(
            harn_paths::ARTIFACT_CONTENT,
            get(artifacts::download_content)
                .put(artifacts::upload_content)
                .delete(artifacts::redact_content),
        )
        .route(harn_paths::RECEIPT, get(receipts::get_receipt))
        .route(harn_paths::RECEIPT_VERIFY, post(receipts::verify_receipt))
        .route(harn_paths::VAULTS, get(vaults::list_vaults).post(vaults::create_vault))
        .route(harn_paths::VAULT, get(vaults::get_vault))
        .route(harn_paths::VAULT_SECRET, put(vaults::put_secret))
        .route(harn_paths::CONNECTORS, get(connectors::list_connectors))
        .route(
            harn_paths::CONNECTOR,
            get(connectors::get_connector).patch(connectors::update_connector),
        )
        .route(harn_paths::CONNECTOR_DELIVERIES, post(connectors::deliver))
        .route(harn_paths::OUTCOMES, get(outcomes::list_outcomes))
        .route(harn_paths::OUTCOME, get(outcomes::get_outcome))
}

/// What may be done, and who is asked.
fn permission_routes() -> Router<Arc<App>> {
    Router::new()
        .route(harn_paths::TASK_AWAIT, post(permission_requests::await_answer))
        .route(
            harn_paths::TASK_PERMISSION_REQUESTS,
            get(permission_requests::list_task_permission_requests),
        )
        .route(harn_paths::PERMISSION_REQUESTS, get(permission_requests::list_permission_requests))
        .route(
            harn_paths::PERMISSION_RESPOND,
            post(permission_requests::respond_permission_request),
        )
        .route(
            harn_paths::PERMISSION_POLICY,
            get(permissions::get_permission_policy).put(permissions::install_permission_policy),
        )
        .route(
            harn_paths::PERMISSION_RULES,
            get(permissions::list_permission_rules).post(permissions::create_permission_rule),
        )
        .route(harn_paths::PERMISSION_RULE, delete(permissions::revoke_permission_rule))
        .route(harn_paths::PERMISSION_HISTORY, get(permissions::permission_history))
        .route(harn_paths::PERMISSION_CHECK, post(permissions::check_permission))
}
