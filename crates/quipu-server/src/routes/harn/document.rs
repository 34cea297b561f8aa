//! The part of this protocol in the OpenAPI document, and the headers that its routes share. A resource adds
//! its handlers to the one list.

use quipu_wire::harn::TokenScope;
use utoipa::{
    IntoParams, OpenApi,
    openapi::security::{ClientCredentials, Flow, OAuth2, Scopes, SecurityScheme},
};

use super::{
    agent_card, artifacts, branches, connectors, discovery, events, memories, messages, outcomes,
    permission_requests, permissions, personas, quotas, receipts, replay, runtime, sessions,
    skills, streams, tasks, vaults, work, workspaces,
};

/// What every request says of itself.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes headers; they are read by name")]
pub(super) struct HarnHeaders {
    /// `agents-protocol-2026-04-25` or `agents-protocol-2026-10-11`.
    #[param(rename = "Harn-Agents-Protocol-Version")]
    version: String,
    /// The Field; `default`, or the one the credential is bound to, if absent.
    #[param(rename = "Quipu-Field", nullable = false)]
    quipu_field: Option<String>,
    /// Waits until this position of the log is known, as an earlier answer told it in `Quipu-Position`.
    #[param(rename = "Quipu-Min-Position", nullable = false)]
    quipu_min_position: Option<u64>,
    /// The agent that calls, where the key is no single agent's; `operator` if absent.
    #[param(rename = "Akashik-Agent", nullable = false)]
    akashik_agent: Option<String>,
}

/// The routes of this protocol.
#[derive(OpenApi)]
#[openapi(paths(
    discovery::discovery,
    agent_card::agent_card,
    discovery::health,
    discovery::version,
    runtime::runtime,
    runtime::capability_summary,
    tasks::submit_task,
    tasks::submit_session_task,
    tasks::list_tasks,
    tasks::list_session_tasks,
    tasks::get_task,
    tasks::cancel_task,
    work::claim_task,
    work::append_event,
    work::complete_task,
    work::fail_task,
    work::record_dependency,
    work::record_checkpoint,
    replay::replay_task,
    replay::replay_session,
    replay::resolve_dependency,
    replay::divergence,
    replay::export_task,
    replay::import_task,
    events::list_events,
    events::list_session_events,
    events::list_task_events,
    events::get_event,
    streams::stream_events,
    streams::stream_session_events,
    streams::stream_task_events,
    branches::list_session_branches,
    branches::create_session_branch,
    branches::get_branch,
    memories::list_memories,
    memories::create_memory,
    memories::get_memory,
    memories::delete_memory,
    messages::list_session_messages,
    messages::append_session_message,
    messages::get_message,
    messages::append_task_message,
    permission_requests::list_permission_requests,
    permission_requests::list_task_permission_requests,
    permission_requests::respond_permission_request,
    permission_requests::await_answer,
    permissions::get_permission_policy,
    permissions::install_permission_policy,
    permissions::list_permission_rules,
    permissions::create_permission_rule,
    permissions::revoke_permission_rule,
    permissions::permission_history,
    permissions::check_permission,
    personas::list_personas,
    personas::create_persona,
    personas::get_persona,
    personas::update_persona,
    quotas::list_quotas,
    quotas::create_quota,
    quotas::get_quota,
    quotas::update_quota,
    sessions::list_sessions,
    sessions::create_session,
    sessions::get_session,
    sessions::update_session,
    sessions::close_session,
    sessions::fork_session,
    sessions::truncate_session,
    skills::list_skills,
    skills::get_skill,
    workspaces::list_workspaces,
    workspaces::create_workspace,
    workspaces::get_workspace,
    workspaces::update_workspace,
    receipts::list_task_receipts,
    receipts::get_receipt,
    receipts::verify_receipt,
    outcomes::list_outcomes,
    outcomes::get_outcome,
    artifacts::register_artifact,
    artifacts::list_artifacts,
    artifacts::get_artifact,
    artifacts::download_content,
    artifacts::upload_content,
    artifacts::redact_content,
    vaults::create_vault,
    vaults::list_vaults,
    vaults::get_vault,
    vaults::put_secret,
    connectors::list_connectors,
    connectors::get_connector,
    connectors::update_connector,
    connectors::deliver,
))]
pub(crate) struct HarnApi;

/// Access tokens by client credentials. Where they are had is the identity provider's to say.
pub(crate) fn security_scheme() -> SecurityScheme {
    const TOKEN_URL: &str = "https://identity-provider.example/oauth/token";
    let scopes = TokenScope::ALL.iter().map(|scope| (scope.as_str(), meaning(*scope)));
    let flow = ClientCredentials::new(TOKEN_URL, Scopes::from_iter(scopes));
    let description = "A JSON Web Token of the identity provider that the operator configured; \
        the address of its token endpoint stands here for that provider's.";
    SecurityScheme::OAuth2(OAuth2::with_description([Flow::ClientCredentials(flow)], description))
}

const fn meaning(scope: TokenScope) -> &'static str {
    match scope {
        TokenScope::SessionsRead => "Read Sessions, Workspaces, Personas and what belongs to them.",
        TokenScope::SessionsWrite => "Create or change them.",
        TokenScope::TasksRead => "Read Tasks and their Outcomes.",
        TokenScope::TasksWrite => "Submit, work on, cancel or replay Tasks.",
        TokenScope::EventsRead => "Read or stream Events.",
        TokenScope::ArtifactsRead => "Read Artifacts.",
        TokenScope::ArtifactsWrite => "Register Artifacts.",
        TokenScope::ReceiptsRead => "Read and verify Receipts.",
    }
}
