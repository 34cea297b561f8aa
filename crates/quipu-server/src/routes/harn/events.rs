//! Events over HTTP: ranges of everything, of a Session and of a Task, and one by its id.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::EventScope;
use quipu_wire::harn::{Event, HarnErrorResponse, List, TokenScope};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// What happened, as far as the caller may know.
#[utoipa::path(
    get,
    path = "/v1/events",
    operation_id = "listEvents",
    tag = "harn",
    params(
        HarnHeaders,
        ("workspace_id" = Option<String>, Query),
        ("session_id" = Option<String>, Query),
        ("task_id" = Option<String>, Query),
        ("after_event_id" = Option<String>, Query, description = "Only what came behind this Event."),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
    ),
    responses(
        (status = 200, description = "A range.", body = List<Event>),
        (status = 410, description = "There is no such Event.", body = HarnErrorResponse),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["events:read"])),
)]
pub(super) async fn list_events(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Event>> {
    let call = HarnCall::receive(&app, TokenScope::EventsRead, request).await?;
    range(&call, filters(&call)).await
}

/// What happened in a Session.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/events",
    operation_id = "listSessionEvents",
    tag = "harn",
    params(
        HarnHeaders,
        ("session_id" = String, Path),
        ("after_event_id" = Option<String>, Query, description = "Only what came behind this Event."),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
    ),
    responses(
        (status = 200, description = "A range.", body = List<Event>),
        (status = 410, description = "There is no such Event.", body = HarnErrorResponse),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["events:read"])),
)]
pub(super) async fn list_session_events(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<Event>> {
    let call = HarnCall::receive(&app, TokenScope::EventsRead, request).await?;
    call.harness.check_session(&call.caller, &session)?;
    range(&call, EventScope::session(&session)).await
}

/// What happened to a Task.
#[utoipa::path(
    get,
    path = "/v1/tasks/{task_id}/events",
    operation_id = "listTaskEvents",
    tag = "harn",
    params(
        HarnHeaders,
        ("task_id" = String, Path),
        ("after_event_id" = Option<String>, Query, description = "Only what came behind this Event."),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
    ),
    responses(
        (status = 200, description = "A range.", body = List<Event>),
        (status = 410, description = "There is no such Event.", body = HarnErrorResponse),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["events:read"])),
)]
pub(super) async fn list_task_events(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<Event>> {
    let call = HarnCall::receive(&app, TokenScope::EventsRead, request).await?;
    call.harness.check_task(&call.caller, &task)?;
    range(&call, EventScope::task(&task)).await
}

async fn range(call: &HarnCall, scope: EventScope) -> HarnOutcome<List<Event>> {
    let (after, limit) = (call.query.get("after_event_id"), call.query.limit()?);
    Ok(HarnAnswer::ok(call.harness.events(&call.caller, scope, after, limit).await?))
}

/// What the query of a request for everything narrows it down to.
pub(super) fn filters(call: &HarnCall) -> EventScope {
    let text = |name| call.query.get(name).map(str::to_owned);
    EventScope {
        workspace: text("workspace_id"),
        session: text("session_id"),
        task: text("task_id"),
    }
}

/// One Event.
#[utoipa::path(
    get,
    path = "/v1/events/{event_id}",
    operation_id = "getEvent",
    tag = "harn",
    params(HarnHeaders, ("event_id" = String, Path)),
    responses(
        (status = 200, description = "The Event.", body = Event),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["events:read"])),
)]
pub(super) async fn get_event(
    State(app): State<Arc<App>>,
    HarnPath(event): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Event> {
    let call = HarnCall::receive(&app, TokenScope::EventsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.event(&call.caller, &event).await?))
}
