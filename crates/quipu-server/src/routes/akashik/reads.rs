//! The three GET routes of the protocol: the Field at a glance, its agents, its open conflicts. They
//! need a key that may read, and no registered agent. What a named agent may not see is left out;
//! a key that names none sees what belongs to no session, and the operator's key everything.

use std::sync::Arc;

use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::HeaderMap,
};
use quipu_core::Reader;
use quipu_field::Field;
use quipu_wire::{
    ErrorCode,
    akashik::{AgentList, ConflictList, FieldStatus},
};

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

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

/// Where a list goes on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PageQuery {
    /// The `next_cursor` of the page before; from the beginning if absent.
    #[param(nullable = false)]
    cursor: Option<String>,
}

pub(super) type PageRequest = Result<Query<PageQuery>, QueryRejection>;

/// The cursor of a query.
pub(super) fn behind(query: PageRequest) -> Result<Option<String>, Refused> {
    let Query(page) = query.map_err(|error| {
        Refused::new(ErrorCode::InvalidPayload, format!("query: {}", error.body_text()))
    })?;
    Ok(page.cursor)
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
    let status = field.blocking(move |field| Ok(field.status_for(&reader))).await?;
    Ok(Answer(StatusForReader { status, agent_id }))
}

pub(super) async fn agents(
    State(app): State<Arc<App>>,
    admission: Admission,
    query: PageRequest,
    headers: HeaderMap,
) -> Outcome<AgentList> {
    let (field, reader) = readable(&app, admission, &headers).await?;
    let after = behind(query)?;
    let listing = move |field: &Arc<Field>| Ok(field.agents_behind(&reader, after.as_deref()));
    Ok(Answer(field.blocking(listing).await?))
}

pub(super) async fn conflicts(
    State(app): State<Arc<App>>,
    admission: Admission,
    query: PageRequest,
    headers: HeaderMap,
) -> Outcome<ConflictList> {
    let (field, reader) = readable(&app, admission, &headers).await?;
    Ok(Answer(field.conflicts_behind(reader, behind(query)?).await?))
}
