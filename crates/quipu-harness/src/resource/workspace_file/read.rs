//! Reading what is under a path: a file, also as it was, or what is in a directory.

use quipu_core::{DocumentKind, state::DocumentEntry};
use quipu_wire::harn::{
    Artifact, FileEncoding, FileObject, FileOrListing, FilePath, HarnError, HarnErrorCode,
    ResourceKind, WorkspaceFile,
};

use crate::{
    Caller, Harness, handle::failure::harn_error, not_found, stored::file_version::FileVersion,
};

/// Which part of what is under a path is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileView {
    /// Of a file, the version; the newest if absent.
    pub version: Option<u64>,
    /// Of a directory, behind what the entries begin.
    pub after: Option<String>,
}

impl Harness {
    /// `GET /v1/workspaces/{workspace_id}/files?path=`.
    ///
    /// # Errors
    /// 404 where there is no such Workspace, nothing under the path, or the content was taken away.
    pub async fn read_workspace_file(
        &self,
        caller: &Caller,
        workspace: &str,
        path: &FilePath,
        view: FileView,
    ) -> Result<FileOrListing, HarnError> {
        self.check_workspace(workspace).map_err(of_path)?;
        let Some(entry) = self.file_entry(workspace, path) else {
            let after = view.after.as_deref();
            return Ok(FileOrListing::Listing(self.list_directory(workspace, path, after).await?));
        };
        let wanted = view.version;
        let found = self.reading(move |harness| harness.file_version(&entry, wanted)).await?;
        let found = found.ok_or_else(|| no_version(workspace, path, wanted))?;
        let content = self.artifact_content(caller, &found.artifact_id).await?;
        let content = String::from_utf8(content.bytes).map_err(|_| {
            HarnError::new(HarnErrorCode::InternalError, format!("{path} is no text in UTF-8"))
        })?;
        let shown = self.show_version(caller, workspace, path, found).await?;
        Ok(FileOrListing::File(WorkspaceFile { content: Some(content), ..shown }))
    }

    /// The document of a file, unless there is none under the path.
    pub(super) fn file_entry(&self, workspace: &str, path: &FilePath) -> Option<DocumentEntry> {
        let id = file_id(workspace, path.as_str());
        self.field.with_state(|state| state.documents.get(DocumentKind::File, &id).cloned())
    }

    /// A version of a file, the newest if none is named. Reads storage.
    pub(super) fn file_version(
        &self,
        entry: &DocumentEntry,
        version: Option<u64>,
    ) -> Result<Option<FileVersion>, HarnError> {
        let mut places = entry.earlier.iter().chain([&entry.at]);
        let place = match version {
            None => Some(&entry.at),
            Some(version) => version
                .checked_sub(1)
                .and_then(|index| usize::try_from(index).ok())
                .and_then(|index| places.nth(index)),
        };
        let Some(place) = place else { return Ok(None) };
        self.field.body_at(*place).map_err(|error| harn_error(&error))
    }

    /// A version without its content.
    pub(super) async fn show_version(
        &self,
        caller: &Caller,
        workspace: &str,
        path: &FilePath,
        version: FileVersion,
    ) -> Result<WorkspaceFile, HarnError> {
        let artifact: Artifact = self.artifact(caller, &version.artifact_id).await?;
        Ok(WorkspaceFile {
            object: FileObject::File,
            workspace_id: workspace.to_owned(),
            path: path.as_str().to_owned(),
            encoding: FileEncoding::Utf8,
            content: None,
            bytes: version.bytes,
            sha256: version.sha256.bare(),
            version: version.version,
            artifact_id: version.artifact_id,
            updated_by: version.by,
            updated_at: artifact.envelope.created_at,
            metadata: artifact.envelope.metadata,
        })
    }
}

/// The id of a file's document. No id of a Workspace has a slash.
pub(super) fn file_id(workspace: &str, path: &str) -> String {
    format!("{workspace}/{path}")
}

/// An error about what stands in the path of the request, and in no member.
pub(super) fn of_path(mut error: HarnError) -> HarnError {
    error.param = None;
    error
}

pub(super) fn no_file(workspace: &str, path: &FilePath) -> HarnError {
    not_found(ResourceKind::File, &format!("{path} in {workspace}"))
}

fn no_version(workspace: &str, path: &FilePath, version: Option<u64>) -> HarnError {
    let version = version.map(|version| format!(" in version {version}")).unwrap_or_default();
    not_found(ResourceKind::File, &format!("{path} in {workspace}{version}"))
}
