//! Events over HTTP: ranges of everything, of a Session and of a Task, and one by its id.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::EventScope;
use quipu_wire::harn::{Event, List};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn list_events(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Event>> {
    let call = HarnCall::receive(&app, request).await?;
    range(&call, filters(&call)).await
}

pub(super) async fn list_session_events(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<Event>> {
    let call = HarnCall::receive(&app, request).await?;
    call.harness.check_session(&call.caller, &session)?;
    range(&call, EventScope::session(&session)).await
}

pub(super) async fn list_task_events(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<Event>> {
    let call = HarnCall::receive(&app, request).await?;
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

pub(super) async fn get_event(
    State(app): State<Arc<App>>,
    HarnPath(event): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Event> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.event(&call.caller, &event).await?))
}
