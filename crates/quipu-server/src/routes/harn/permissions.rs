//! The permission policy, its rules, checks and history over HTTP.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use quipu_harness::AuditFilter;
use quipu_wire::harn::{
    AuditEntry, AuditOutcome, HarnError, HarnErrorCode, HarnErrorResponse, List,
    PermissionCheckRequest, PermissionCheckResponse, PermissionPolicy, PermissionPolicyResponse,
    RememberRule, ResourceKind, TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

/// What may be done without asking.
#[utoipa::path(
    get,
    path = "/v1/permissions/policy",
    operation_id = "getPermissionPolicy",
    tag = "harn",
    params(HarnHeaders),
    responses(
        (status = 200, description = "The policy and its version.", body = PermissionPolicyResponse),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_permission_policy(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<PermissionPolicyResponse> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.permission_policy().await?))
}

/// Replaces the policy, with authority 8.
#[utoipa::path(
    put,
    path = "/v1/permissions/policy",
    operation_id = "installPermissionPolicy",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = PermissionPolicy,
    responses(
        (status = 200, description = "The policy and its version.", body = PermissionPolicyResponse),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn install_permission_policy(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<PermissionPolicyResponse> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let policy = PermissionPolicy::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.set_permission_policy(&asked, policy).await?))
}

/// The rules that hold now, the narrowest first.
#[utoipa::path(
    get,
    path = "/v1/permissions/rules",
    operation_id = "listPermissionRules",
    tag = "harn",
    params(HarnHeaders, ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."), ("cursor" = Option<String>, Query)),
    responses(
        (status = 200, description = "A page.", body = List<RememberRule>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_permission_rules(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<RememberRule>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let page = call.page(ResourceKind::PermissionRule)?;
    Ok(HarnAnswer::ok(call.harness.permission_rules(&call.caller, page).await?))
}

/// Makes a rule, with authority 8.
#[utoipa::path(
    post,
    path = "/v1/permissions/rules",
    operation_id = "createPermissionRule",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = RememberRule,
    responses(
        (status = 200, description = "The rule.", body = RememberRule),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn create_permission_rule(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<RememberRule> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let rule = RememberRule::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.create_permission_rule(&asked, rule).await?))
}

/// Takes a rule back, with authority 8.
#[utoipa::path(
    delete,
    path = "/v1/permissions/rules/{rule_id}",
    operation_id = "revokePermissionRule",
    tag = "harn",
    params(HarnHeaders, ("rule_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses(
        (status = 204, description = "It no longer holds."),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn revoke_permission_rule(
    State(app): State<Arc<App>>,
    HarnPath(rule): HarnPath<String>,
    request: Request,
) -> Result<StatusCode, HarnRefused> {
    let call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    call.harness.revoke_permission_rule(&asked, &rule).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What was decided, the newest first.
#[utoipa::path(
    get,
    path = "/v1/permissions/history",
    operation_id = "getPermissionHistory",
    tag = "harn",
    params(HarnHeaders, ("session_id" = Option<String>, Query), ("workspace_id" = Option<String>, Query), ("tenant_id" = Option<String>, Query), ("actor" = Option<String>, Query), ("outcome" = Option<String>, Query), ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent.")),
    responses(
        (status = 200, description = "The decisions.", body = List<AuditEntry>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn permission_history(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<AuditEntry>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let limit = call.query.limit()?;
    let filter = filter(&call)?;
    Ok(HarnAnswer::ok(call.harness.permission_history(&call.caller, filter, limit).await?))
}

/// May this be done? Rules are asked first, then the policy.
#[utoipa::path(
    post,
    path = "/v1/permissions/check",
    operation_id = "checkPermission",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = PermissionCheckRequest,
    responses(
        (status = 200, description = "What was decided.", body = PermissionCheckResponse),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn check_permission(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<PermissionCheckResponse> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
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
