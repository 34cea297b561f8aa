//! The headers that the routes of this protocol share, and its credentials, as the document has them.

use quipu_wire::harn::TokenScope;
use utoipa::{
    IntoParams,
    openapi::security::{ClientCredentials, Flow, OAuth2, Scopes, SecurityScheme},
};

/// What every request says of itself.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes headers; they are read by name")]
pub(crate) struct HarnHeaders {
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
