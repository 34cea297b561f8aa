//! The permission policy, its rules, checks and history over HTTP.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use quipu_harness::AuditFilter;
use quipu_wire::harn::{
    AuditEntry, AuditOutcome, Cursor, HarnError, HarnErrorCode, List, PermissionCheckRequest,
    PermissionCheckResponse, PermissionPolicy, PermissionPolicyResponse, RememberRule,
    ResourceKind,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

pub(super) async fn get_permission_policy(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<PermissionPolicyResponse> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.permission_policy().await?))
}

pub(super) async fn install_permission_policy(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<PermissionPolicyResponse> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let policy = PermissionPolicy::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.set_permission_policy(&asked, policy).await?))
}

pub(super) async fn list_permission_rules(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<RememberRule>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::PermissionRule)?;
    Ok(HarnAnswer::ok(call.harness.permission_rules(&call.caller, page).await?))
}

pub(super) async fn create_permission_rule(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<RememberRule> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let rule = RememberRule::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.create_permission_rule(&asked, rule).await?))
}

pub(super) async fn revoke_permission_rule(
    State(app): State<Arc<App>>,
    HarnPath(rule): HarnPath<String>,
    request: Request,
) -> Result<StatusCode, HarnRefused> {
    let call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    call.harness.revoke_permission_rule(&asked, &rule).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn permission_history(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<AuditEntry>> {
    let call = HarnCall::receive(&app, request).await?;
    let limit = call.query.limit()?;
    let cursor = Cursor::read(call.query.get("cursor"), ResourceKind::PermissionDecision)?;
    let filter = filter(&call)?;
    let history = call.harness.permission_history(&call.caller, filter, limit, cursor);
    Ok(HarnAnswer::ok(history.await?))
}

pub(super) async fn check_permission(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<PermissionCheckResponse> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = PermissionCheckRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.check_permission(&asked, request).await?))
}

fn filter(call: &HarnCall) -> Result<AuditFilter, HarnError> {
    let text = |name| call.query.get(name).map(str::to_owned);
    let outcome = match call.query.get("outcome") {
        None => None,
        Some(word) => Some(AuditOutcome::parse(word).ok_or_else(|| {
            let message = format!("outcome: must be one of {}", AuditOutcome::WORDS);
            HarnError::new(HarnErrorCode::InvalidRequest, message).at("outcome")
        })?),
    };
    Ok(AuditFilter {
        session: text("session_id"),
        workspace: text("workspace_id"),
        tenant: text("tenant_id"),
        actor: text("actor"),
        outcome,
    })
}
