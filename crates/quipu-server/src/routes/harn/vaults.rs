//! Vaults over HTTP. Secrets go in and never come out.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_harness::Page;
use quipu_wire::harn::{CreateVaultRequest, List, PutSecretRequest, ResourceKind, Vault};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

pub(super) async fn create_vault(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Vault> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = CreateVaultRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.create_vault(&asked, request).await?))
}

pub(super) async fn list_vaults(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Vault>> {
    let call = HarnCall::receive(&app, request).await?;
    let (limit, cursor) = (call.query.get("limit"), call.query.get("cursor"));
    let page = Page::read(ResourceKind::Vault, limit, cursor)?;
    let workspace = call.query.get("workspace_id");
    Ok(HarnAnswer::ok(call.harness.vaults(&call.caller, page, workspace).await?))
}

pub(super) async fn get_vault(
    State(app): State<Arc<App>>,
    HarnPath(vault): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Vault> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.vault(&call.caller, &vault).await?))
}

pub(super) async fn put_secret(
    State(app): State<Arc<App>>,
    HarnPath((vault, name)): HarnPath<(String, String)>,
    request: Request,
) -> HarnOutcome<Vault> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = PutSecretRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.put_secret(&asked, &vault, &name, request).await?))
}
