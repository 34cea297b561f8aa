//! Artifacts over HTTP, with their content as raw bytes.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, Response, header},
};
use quipu_harness::{ArtifactFilter, Page, WriteRequest};
use quipu_wire::harn::{
    Artifact, HarnErrorResponse, List, RegisterArtifactRequest, ResourceKind, Sha256, TokenScope,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::{
    net::body::{self, discard},
    pipeline::{
        harn_answer::{HarnAnswer, HarnOutcome},
        harn_refusal::HarnRefused,
        state::App,
    },
};

/// Registers an Artifact. Its content may be elsewhere, or come later.
#[utoipa::path(
    post,
    path = "/v1/artifacts",
    operation_id = "registerArtifact",
    tag = "harn",
    params(HarnHeaders, ("Idempotency-Key" = Option<String>, Header)),
    request_body = RegisterArtifactRequest,
    responses(
        (status = 201, description = "Registered.", body = Artifact),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["artifacts:write"])),
)]
pub(super) async fn register_artifact(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let mut call = HarnCall::receive(&app, TokenScope::ArtifactsWrite, request).await?;
    let asked = call.asked()?;
    let request = RegisterArtifactRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::created(call.harness.register_artifact(&asked, request).await?))
}

/// All Artifacts that the caller may know of, in the order of their making.
#[utoipa::path(
    get,
    path = "/v1/artifacts",
    operation_id = "listArtifacts",
    tag = "harn",
    params(
        HarnHeaders,
        ("workspace_id" = Option<String>, Query),
        ("session_id" = Option<String>, Query),
        ("task_id" = Option<String>, Query),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
        ("cursor" = Option<String>, Query),
    ),
    responses(
        (status = 200, description = "A page.", body = List<Artifact>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["artifacts:read"])),
)]
pub(super) async fn list_artifacts(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Artifact>> {
    let call = HarnCall::receive(&app, TokenScope::ArtifactsRead, request).await?;
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

/// One Artifact.
#[utoipa::path(
    get,
    path = "/v1/artifacts/{artifact_id}",
    operation_id = "getArtifact",
    tag = "harn",
    params(HarnHeaders, ("artifact_id" = String, Path)),
    responses(
        (status = 200, description = "The Artifact.", body = Artifact),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["artifacts:read"])),
)]
pub(super) async fn get_artifact(
    State(app): State<Arc<App>>,
    HarnPath(artifact): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let call = HarnCall::receive(&app, TokenScope::ArtifactsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.artifact(&call.caller, &artifact).await?))
}

/// The content of an Artifact that is kept here. It comes as bytes to be saved, whatever they are, so that
/// no browser runs what somebody uploaded.
#[utoipa::path(
    get,
    path = "/v1/artifacts/{artifact_id}/content",
    operation_id = "downloadArtifactContent",
    tag = "harn",
    params(HarnHeaders, ("artifact_id" = String, Path)),
    responses(
        (status = 200, description = "The bytes.", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["artifacts:read"])),
)]
pub(super) async fn download_content(
    State(app): State<Arc<App>>,
    HarnPath(artifact): HarnPath<String>,
    request: Request,
) -> Result<Response<Body>, HarnRefused> {
    const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
    let call = HarnCall::receive(&app, TokenScope::ArtifactsRead, request).await?;
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

/// Uploads the content of an Artifact as raw bytes. They must have the digest that was registered; where
/// none was, theirs is registered.
#[utoipa::path(
    put,
    path = "/v1/artifacts/{artifact_id}/content",
    operation_id = "uploadArtifactContent",
    tag = "quipu",
    params(HarnHeaders, ("artifact_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 200, description = "Kept.", body = Artifact),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["artifacts:write"])),
)]
pub(super) async fn upload_content(
    State(app): State<Arc<App>>,
    HarnPath(artifact): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let (parts, body) = request.into_parts();
    let call = match HarnCall::enter(&app, TokenScope::ArtifactsWrite, &parts).await {
        Ok(call) => call,
        Err(refused) => {
            discard(&parts.headers, body).await;
            return Err(refused);
        }
    };
    let most = call.harness.options().content_bytes_max;
    let whole = body::read(&app.room, &parts.headers, body, most).await?;
    let digest = Sha256::of(&whole.bytes);
    let asked = WriteRequest { caller: call.caller.clone(), key: call.idempotency.clone(), digest };
    let bytes = whole.bytes.to_vec();
    Ok(HarnAnswer::ok(call.harness.put_artifact_content(&asked, &artifact, bytes).await?))
}

/// Takes the content of an Artifact away: its bytes are erased from the log unless another Artifact has them
/// too, and the Artifact says that they were there. For who made it, or authority 8.
#[utoipa::path(
    delete,
    path = "/v1/artifacts/{artifact_id}/content",
    operation_id = "redactArtifactContent",
    tag = "quipu",
    params(HarnHeaders, ("artifact_id" = String, Path)),
    responses(
        (status = 200, description = "Taken away, now or before.", body = Artifact),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["artifacts:write"])),
)]
pub(super) async fn redact_content(
    State(app): State<Arc<App>>,
    HarnPath(artifact): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Artifact> {
    let call = HarnCall::receive(&app, TokenScope::ArtifactsWrite, request).await?;
    Ok(HarnAnswer::ok(call.harness.redact_artifact(&call.caller, &artifact).await?))
}
