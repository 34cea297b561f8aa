//! The three GET routes of the protocol: the Field at a glance, its agents, its open conflicts. They
//! need a key that may read, and no registered agent.

use std::sync::Arc;

use axum::{extract::State, http::HeaderMap};
use quipu_field::Field;
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{AgentList, ConflictList, FieldStatus},
};

use super::document::FieldHeader;
use crate::{
    answer::{Answer, Outcome, Refused},
    app::App,
    auth,
    field_choice::{self, Missing},
    limits::READ_AUTHORITY,
};

pub(super) async fn readable(app: &App, headers: &HeaderMap) -> Result<Arc<Field>, Refused> {
    let credential = auth::credential(app, headers)?;
    auth::require(&credential, READ_AUTHORITY)?;
    Ok(field_choice::choose(app, &credential, headers, Missing::Refuse).await?)
}

/// The Field at a glance.
#[utoipa::path(
    get,
    path = "/v1/field/status",
    tag = "akashik",
    params(FieldHeader),
    responses(
        (status = 200, description = "How the Field stands.", body = FieldStatus),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn field_status(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Outcome<FieldStatus> {
    let field = readable(&app, &headers).await?;
    // It goes through all units, which is too long for a thread that serves sockets.
    let counting = tokio::task::spawn_blocking(move || field.status());
    let status = counting.await.map_err(|error| {
        Refused::new(ErrorCode::InternalError, format!("the status failed: {error}"))
    })?;
    Ok(Answer(status))
}

/// The agents that are registered now.
#[utoipa::path(
    get,
    path = "/v1/agents",
    tag = "akashik",
    params(FieldHeader),
    responses(
        (status = 200, description = "The agents, by id.", body = AgentList),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn agents(State(app): State<Arc<App>>, headers: HeaderMap) -> Outcome<AgentList> {
    Ok(Answer(readable(&app, &headers).await?.agents()))
}

/// The conflicts that nobody has settled yet.
#[utoipa::path(
    get,
    path = "/v1/conflicts",
    tag = "akashik",
    params(FieldHeader),
    responses(
        (status = 200, description = "The conflicts, oldest first.", body = ConflictList),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn conflicts(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Outcome<ConflictList> {
    Ok(Answer(readable(&app, &headers).await?.conflicts().await?))
}
