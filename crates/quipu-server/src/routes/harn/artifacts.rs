//! Artifacts over HTTP, with their content as raw bytes.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, Response, header},
};
use quipu_harness::{ArtifactFilter, Page, WriteRequest};
use quipu_wire::harn::{Artifact, List, RegisterArtifactRequest, ResourceKind, Sha256};

use super::{entrance::HarnCall, path::HarnPath};
use crate::{
    net::body::{self, discard},
    pipeline::route::Admission,
    pipeline::{
        harn_answer::{HarnAnswer, HarnOutcome},
        harn_refusal::HarnRefused,
        state::App,
    },
};

pub(super) async fn register_artifact(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = RegisterArtifactRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.register_artifact(&asked, request).await?))
}

pub(super) async fn list_artifacts(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Artifact>> {
    let call = HarnCall::receive(&app, request).await?;
    let (limit, cursor) = (call.query.get("limit"), call.query.get("cursor"));
    let page = Page::read(ResourceKind::Artifact, limit, cursor)?;
    let text = |name| call.query.get(name).map(str::to_owned);
    let filter = ArtifactFilter {
        workspace: text("workspace_id"),
        session: text("session_id"),
        task: text("task_id"),
    };
    Ok(HarnAnswer::ok(call.harness.artifacts(&call.caller, page, filter).await?))
}

pub(super) async fn get_artifact(
    State(app): State<Arc<App>>,
    HarnPath(artifact): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.artifact(&call.caller, &artifact).await?))
}

pub(super) async fn download_content(
    State(app): State<Arc<App>>,
    HarnPath(artifact): HarnPath<String>,
    request: Request,
) -> Result<Response<Body>, HarnRefused> {
    const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
    let call = HarnCall::receive(&app, request).await?;
    let content = call.harness.artifact_content(&call.caller, &artifact).await?;
    let mut response = Response::new(Body::from(content.bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, BYTES);
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(tag) = HeaderValue::try_from(format!("\"{}\"", content.sha256.bare())) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

pub(super) async fn upload_content(
    State(app): State<Arc<App>>,
    HarnPath(artifact): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let (parts, body) = request.into_parts();
    let call = match HarnCall::enter(&app, Admission::of(&parts.extensions).scope(), &parts).await {
        Ok(call) => call,
        Err(refused) => {
            discard(&parts.headers, body).await;
            return Err(refused);
        }
    };
    let most = call.harness.options().content_bytes_max;
    let whole = body::read(&call.room(&app), &parts.headers, body, most).await?;
    let digest = Sha256::of(&whole.bytes);
    let asked = WriteRequest { caller: call.caller.clone(), key: call.idempotency.clone(), digest };
    let bytes = whole.bytes.to_vec();
    Ok(HarnAnswer::ok(call.harness.put_artifact_content(&asked, &artifact, bytes).await?))
}

pub(super) async fn redact_content(
    State(app): State<Arc<App>>,
    HarnPath(artifact): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.redact_artifact(&call.caller, &artifact).await?))
}
