//! The GET routes that are ours: one unit by its id, and the log. Like the protocol's own reads they
//! need a key that may read, and no registered agent.

use std::sync::Arc;

use axum::{
    extract::{
        Path, Query, State,
        rejection::{PathRejection, QueryRejection},
    },
    http::HeaderMap,
};
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{LogPage, MemoryUnit},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{
    document::FieldHeader,
    reads::{readable, whole_log},
};
use crate::{
    answer::{Answer, Outcome, Refused},
    app::App,
    limits::LOG_PAGE_COMMITS,
};

/// One unit, whatever its status.
#[utoipa::path(
    get,
    path = "/v1/units/{id}",
    tag = "quipu",
    params(FieldHeader, ("id" = String, Path, description = "The unit's id.")),
    responses(
        (status = 200, description = "The unit.", body = MemoryUnit),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn unit(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Outcome<MemoryUnit> {
    let (field, reader) = readable(&app, &headers).await?;
    let Path(id) = id.map_err(|error| {
        Refused::new(ErrorCode::InvalidPayload, format!("id: {}", error.body_text()))
    })?;
    Ok(Answer(field.unit(reader, &id).await?))
}

/// Which commits.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    /// The first position; 1 if absent.
    #[param(nullable = false)]
    from: Option<u64>,
    /// How many commits at most; 100 if absent, 1000 at most.
    #[param(nullable = false)]
    limit: Option<usize>,
}

/// The log, commit by commit, without its texts.
#[utoipa::path(
    get,
    path = "/v1/log",
    tag = "quipu",
    params(FieldHeader, LogQuery),
    responses(
        (status = 200, description = "The commits, oldest first.", body = LogPage),
        (status = "4XX", description = "Refused.", body = ProtocolError),
        (status = "5XX", description = "Failed.", body = ProtocolError),
    ),
    security(("key" = [])),
)]
pub(super) async fn log(
    State(app): State<Arc<App>>,
    query: Result<Query<LogQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Outcome<LogPage> {
    let field = whole_log(&app, &headers).await?;
    let Query(query) = query.map_err(|error| {
        Refused::new(ErrorCode::InvalidPayload, format!("query: {}", error.body_text()))
    })?;
    let (from, limit) = (query.from.unwrap_or(1), query.limit.unwrap_or(LOG_PAGE_COMMITS));
    if limit == 0 {
        return Err(Refused::new(ErrorCode::InvalidPayload, "query limit: must be at least 1"));
    }
    Ok(Answer(field.log(from, limit).await?))
}
