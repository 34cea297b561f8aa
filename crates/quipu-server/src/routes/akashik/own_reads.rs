//! The GET routes that are ours: units, the log, the subscriptions. Like the protocol's own reads they
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
    ErrorCode,
    akashik::{
        LogPage, MemoryType, MemoryUnit, Subscription, UnitList, UnitOrder, UnitQuery, UnitStatus,
    },
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::reads::{PageRequest, behind, readable, whole_log};
use crate::{
    limits::{LOG_PAGE_COMMITS, UNITS_PAGE},
    pipeline::{
        answer::{Answer, Outcome, Refused},
        route::Admission,
        state::App,
    },
};

/// Which units.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct UnitsQuery {
    /// Of this type.
    #[serde(rename = "type")]
    memory_type: Option<MemoryType>,
    /// In this state.
    status: Option<UnitStatus>,
    /// Recorded by this agent.
    agent: Option<String>,
    /// Recorded in this session.
    session: Option<String>,
    /// Recorded for this task.
    task: Option<String>,
    /// Recorded at this time or later, in milliseconds since 1970.
    since_ms: Option<u64>,
    /// Recorded at this time or earlier.
    until_ms: Option<u64>,
    /// That relate to this unit.
    relates_to: Option<String>,
    /// That have every one of these words, in whatever form.
    q: Option<String>,
    /// The newest first if absent.
    order: Option<UnitOrder>,
    /// How many are passed over; none if absent.
    skip: Option<usize>,
    /// How many are listed then, 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// How many characters of each content are shown; all if absent.
    content_chars: Option<usize>,
}

pub(super) async fn units(
    State(app): State<Arc<App>>,
    admission: Admission,
    query: Result<Query<UnitsQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Outcome<UnitList> {
    let (field, reader) = readable(&app, admission, &headers).await?;
    let Query(asked) = query.map_err(|error| {
        Refused::new(ErrorCode::InvalidPayload, format!("query: {}", error.body_text()))
    })?;
    let query = UnitQuery {
        memory_type: asked.memory_type,
        status: asked.status,
        agent: asked.agent,
        session: asked.session,
        task: asked.task,
        since_ms: asked.since_ms,
        until_ms: asked.until_ms,
        relates_to: asked.relates_to,
        words: asked.q,
        order: asked.order,
        skip: asked.skip.unwrap_or(0),
        limit: asked.limit.unwrap_or(UNITS_PAGE),
        content_chars: asked.content_chars,
    };
    if query.limit == 0 {
        return Err(Refused::new(ErrorCode::InvalidPayload, "query limit: must be at least 1"));
    }
    Ok(Answer(field.units(reader, query).await?))
}

pub(super) async fn unit(
    State(app): State<Arc<App>>,
    admission: Admission,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Outcome<MemoryUnit> {
    let (field, reader) = readable(&app, admission, &headers).await?;
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

pub(super) async fn log(
    State(app): State<Arc<App>>,
    admission: Admission,
    query: Result<Query<LogQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Outcome<LogPage> {
    let field = whole_log(&app, admission, &headers).await?;
    let Query(query) = query.map_err(|error| {
        Refused::new(ErrorCode::InvalidPayload, format!("query: {}", error.body_text()))
    })?;
    let (from, limit) = (query.from.unwrap_or(1), query.limit.unwrap_or(LOG_PAGE_COMMITS));
    if limit == 0 {
        return Err(Refused::new(ErrorCode::InvalidPayload, "query limit: must be at least 1"));
    }
    Ok(Answer(field.log(from, limit).await?))
}

/// The subscriptions of all agents.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SubscriptionList {
    /// Oldest first.
    subscriptions: Vec<Subscription>,
    /// Whether there are more behind these. A page ends where it has 8 MiB.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_more: bool,
    /// What to send as `cursor` for those.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(super) async fn subscriptions(
    State(app): State<Arc<App>>,
    admission: Admission,
    query: PageRequest,
    headers: HeaderMap,
) -> Outcome<SubscriptionList> {
    let field = whole_log(&app, admission, &headers).await?;
    let after = behind(query)?;
    let listed = field.blocking(move |field| field.all_subscriptions(after.as_deref())).await;
    let (subscriptions, has_more) = listed?;
    let last = subscriptions.last().filter(|_| has_more);
    let next_cursor = last.map(|last| last.id.clone());
    Ok(Answer(SubscriptionList { subscriptions, has_more, next_cursor }))
}
