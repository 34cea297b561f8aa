//! Vaults over HTTP. Secrets go in and never come out.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::Page;
use quipu_wire::harn::{
    CreateVaultRequest, HarnErrorResponse, List, PutSecretRequest, ResourceKind, TokenScope, Vault,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// Makes a Vault.
#[utoipa::path(
    post,
    path = "/v1/vaults",
    operation_id = "createVault",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreateVaultRequest,
    responses(
        (status = 201, description = "Made.", body = Vault),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn create_vault(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Vault> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = CreateVaultRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_vault(&asked, request).await?))
}

/// All Vaults, with the names of what they hold.
#[utoipa::path(
    get,
    path = "/v1/vaults",
    operation_id = "listVaults",
    tag = "harn",
    params(
        HarnHeaders,
        ("workspace_id" = Option<String>, Query),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
        ("cursor" = Option<String>, Query),
    ),
    responses(
        (status = 200, description = "A page.", body = List<Vault>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_vaults(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Vault>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let (limit, cursor) = (call.query.get("limit"), call.query.get("cursor"));
    let page = Page::read(ResourceKind::Vault, limit, cursor)?;
    let workspace = call.query.get("workspace_id");
    Ok(HarnAnswer::ok(call.harness.vaults(&call.caller, page, workspace).await?))
}

/// One Vault, with the names of what it holds.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}",
    operation_id = "getVault",
    tag = "harn",
    params(HarnHeaders, ("vault_id" = String, Path)),
    responses(
        (status = 200, description = "The Vault.", body = Vault),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_vault(
    State(app): State<Arc<App>>,
    HarnPath(vault): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Vault> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.vault(&call.caller, &vault).await?))
}

/// Puts a secret into a Vault, in place of the one of that name. It is sealed, and nothing shows it again.
#[utoipa::path(
    put,
    path = "/v1/vaults/{vault_id}/secrets/{name}",
    operation_id = "putVaultSecret",
    tag = "quipu",
    params(
        HarnHeaders,
        ("vault_id" = String, Path),
        ("name" = String, Path, description = "Letters, digits, dots, dashes and underscores."),
        ("Idempotency-Key" = Option<String>, Header),
    ),
    request_body = PutSecretRequest,
    responses(
        (status = 200, description = "Kept.", body = Vault),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn put_secret(
    State(app): State<Arc<App>>,
    HarnPath((vault, name)): HarnPath<(String, String)>,
    request: Request,
) -> HarnOutcome<Vault> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = PutSecretRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.put_secret(&asked, &vault, &name, request).await?))
}
