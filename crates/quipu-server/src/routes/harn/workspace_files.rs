//! Files of a Workspace over HTTP. The path is in the query, or in the body of a write.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use quipu_harness::FileView;
use quipu_wire::harn::{
    FileOrListing, FilePath, HarnError, HarnErrorCode, WorkspaceFile, WriteFileRequest,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

pub(super) async fn read_file(
    State(app): State<Arc<App>>,
    HarnPath(workspace): HarnPath<String>,
    request: Request,
) -> HarnOutcome<FileOrListing> {
    let call = HarnCall::receive(&app, request).await?;
    let path = requested_path(&call)?;
    let version = call.query.get("version").map(read_version).transpose()?;
    let view = FileView { version, after: call.query.get("after").map(str::to_owned) };
    let found = call.harness.read_workspace_file(&call.caller, &workspace, &path, view).await?;
    Ok(HarnAnswer::ok(found))
}

pub(super) async fn write_file(
    State(app): State<Arc<App>>,
    HarnPath(workspace): HarnPath<String>,
    request: Request,
) -> HarnOutcome<WorkspaceFile> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = WriteFileRequest::parse(call.body.take().unwrap_or_default())?;
    let path = match &request.path {
        Some(path) => FilePath::read(path)?,
        None => requested_path(&call)?,
    };
    let written = call.harness.write_workspace_file(&asked, &workspace, &path, request).await?;
    Ok(HarnAnswer::ok(written))
}

pub(super) async fn erase_file(
    State(app): State<Arc<App>>,
    HarnPath(workspace): HarnPath<String>,
    request: Request,
) -> Result<StatusCode, HarnRefused> {
    let call = HarnCall::receive(&app, request).await?;
    let (asked, path) = (call.as_write()?, requested_path(&call)?);
    call.harness.erase_workspace_file(&asked, &workspace, &path).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn requested_path(call: &HarnCall) -> Result<FilePath, HarnError> {
    FilePath::read(call.query.get("path").unwrap_or_default())
}

fn read_version(text: &str) -> Result<u64, HarnError> {
    let refused = || {
        let message = "version: must be an integer from 1";
        HarnError::new(HarnErrorCode::InvalidRequest, message).at("version")
    };
    text.parse().ok().filter(|version| *version > 0).ok_or_else(refused)
}
