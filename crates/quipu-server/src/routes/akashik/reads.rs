//! The three GET routes of the protocol: the Field at a glance, its agents, its open conflicts. They
//! need a key that may read, and no registered agent. What a named agent may not see is left out;
//! a key that names none sees what belongs to no session, and the operator's key everything.

use std::sync::Arc;

use axum::{extract::State, http::HeaderMap};
use quipu_core::Reader;
use quipu_field::Field;
use quipu_wire::{
    ErrorCode,
    akashik::{AgentList, ConflictList, FieldStatus},
};

use serde::Serialize;
use utoipa::ToSchema;

use crate::pipeline::{
    answer::{Answer, Outcome, Refused},
    auth,
    field_choice::{self, Missing},
    route::Admission,
    sender,
    state::App,
};

pub(super) async fn readable(
    app: &App,
    admission: Admission,
    headers: &HeaderMap,
) -> Result<(Arc<Field>, Reader), Refused> {
    let credential = auth::credential(app, headers)?;
    auth::require(&credential, admission.least_authority())?;
    let reader = sender::reader(headers, &credential)?;
    let field = field_choice::choose(&app.fields, &credential, headers, Missing::Refuse).await?;
    if let Some(agent) = &reader.agent {
        auth::check_name(app, &credential, &field, agent)?;
    }
    Ok((field, reader))
}

/// The Field of a caller that may see all of its log: headers name units, agents and tasks of every
/// session, so no authority short of a session creator's is enough.
pub(crate) async fn whole_log(
    app: &App,
    admission: Admission,
    headers: &HeaderMap,
) -> Result<Arc<Field>, Refused> {
    let credential = auth::credential(app, headers)?;
    auth::require(&credential, admission.least_authority())?;
    Ok(field_choice::choose(&app.fields, &credential, headers, Missing::Refuse).await?)
}

/// How the Field stands, and to whom this is said.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StatusForReader {
    #[serde(flatten)]
    status: FieldStatus,
    /// Ours: the agent that reads, which is the key's own or the one that the headers name; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
}

pub(super) async fn field_status(
    State(app): State<Arc<App>>,
    admission: Admission,
    headers: HeaderMap,
) -> Outcome<StatusForReader> {
    let (field, reader) = readable(&app, admission, &headers).await?;
    let agent_id = reader.agent.clone();
    // It goes through all units, which is too long for a thread that serves sockets.
    let counting = tokio::task::spawn_blocking(move || field.status_for(&reader));
    let status = counting.await.map_err(|error| {
        Refused::new(ErrorCode::InternalError, format!("the status failed: {error}"))
    })?;
    Ok(Answer(StatusForReader { status, agent_id }))
}

pub(super) async fn agents(
    State(app): State<Arc<App>>,
    admission: Admission,
    headers: HeaderMap,
) -> Outcome<AgentList> {
    let (field, reader) = readable(&app, admission, &headers).await?;
    Ok(Answer(field.agents_for(&reader)))
}

pub(super) async fn conflicts(
    State(app): State<Arc<App>>,
    admission: Admission,
    headers: HeaderMap,
) -> Outcome<ConflictList> {
    let (field, reader) = readable(&app, admission, &headers).await?;
    Ok(Answer(field.conflicts_for(reader).await?))
}
