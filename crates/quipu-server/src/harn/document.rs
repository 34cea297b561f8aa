//! The part of this protocol in the OpenAPI document, and the headers that its routes share. A resource adds
//! its handlers to the one list.

use quipu_wire::harn::TokenScope;
use utoipa::{
    IntoParams, OpenApi,
    openapi::security::{ClientCredentials, Flow, OAuth2, Scopes, SecurityScheme},
};

use super::{agent_card, discovery, events, runtime, streams, tasks, work};

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
    events::list_events,
    events::list_session_events,
    events::list_task_events,
    events::get_event,
    streams::stream_events,
    streams::stream_session_events,
    streams::stream_task_events,
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
