//! Writing a file: each time a new version, in one commit with its Artifact and its bytes. The same content again is no
//! new version.

use quipu_core::{
    DocumentKind, DocumentOwner, State,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_wire::harn::{
    Artifact, ArtifactKind, ArtifactObject, FilePath, HarnError, HarnErrorCode, ResourceEnvelope,
    ResourceKind, Sha256, Visibility, WorkspaceFile, WriteFileRequest,
};

use super::{
    directory::is_directory,
    read::{file_id, of_path},
};
use crate::{
    Caller, Harness, WriteRequest,
    document::holding::holding,
    handle::{
        retry::{WriteError, retry_until_unchanged},
        write::{Target, put_by},
    },
    stored::file_version::FileVersion,
};

const MIME: &str = "text/plain; charset=utf-8";

/// Where a file is to be.
#[derive(Clone, Copy)]
struct FileAddress<'a> {
    workspace: &'a str,
    path: &'a FilePath,
}

impl Harness {
    /// `PUT /v1/workspaces/{workspace_id}/files?path=`.
    ///
    /// # Errors
    /// 404 where there is no such Workspace; 400 without the path of a file; 403 for who has less authority than the last
    /// version was written with, and did not write it; 409 where the path is a directory, or goes through a file; 413
    /// where the content is larger than an Artifact may be.
    pub async fn write_workspace_file(
        &self,
        write: &WriteRequest,
        workspace: &str,
        path: &FilePath,
        request: WriteFileRequest,
    ) -> Result<WorkspaceFile, HarnError> {
        if path.is_root() {
            let message = "path: must name a file";
            return Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at("path"));
        }
        self.check_workspace(workspace).map_err(of_path)?;
        let place = FileAddress { workspace, path };
        retry_until_unchanged(|| self.write_file_once(write, place, &request)).await
    }

    async fn write_file_once(
        &self,
        write: &WriteRequest,
        place: FileAddress<'_>,
        request: &WriteFileRequest,
    ) -> Result<WorkspaceFile, WriteError> {
        // So that nobody takes away meanwhile the bytes that the new version shares.
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        self.field.with_state(|state| check_place(state, place))?;
        let newest = self.newest_version(place).await?;
        let digest = Sha256::of(request.content.as_bytes());
        if let Some(newest) = &newest {
            self.check_rewriting(&write.caller, place.path, newest)?;
        }
        let artifact = self.new_artifact(place, digest, request);
        let same = match &newest {
            Some(newest) if newest.sha256 == digest => {
                let before = self.artifact(&write.caller, &newest.artifact_id).await?;
                let kept = self.held(&before).is_some();
                kept && before.envelope.metadata == artifact.envelope.metadata
            }
            _ => false,
        };
        if let Some(newest) = newest.clone().filter(|_| same) {
            return Ok(self
                .show_version(&write.caller, place.workspace, place.path, newest)
                .await?);
        }
        let version = FileVersion {
            artifact_id: artifact.envelope.id.clone(),
            sha256: digest,
            bytes: u64::try_from(request.content.len()).unwrap_or(u64::MAX),
            version: newest.map_or(0, |newest| newest.version) + 1,
            by: write.caller.agent.clone(),
            authority: self.authority_of(&write.caller, None),
        };
        let documents = self.file_documents(place, &artifact, &version, &request.content)?;
        let path = format!("/v1/workspaces/{}/files?path={}", place.workspace, place.path);
        let target = Target { workspace: place.workspace, method: "PUT", path: &path };
        let command = HarnCommand { documents, read_at, ..HarnCommand::default() };
        let outcome = self.write(write, target, None, command).await?;
        let made = put_by(&outcome, DocumentKind::Artifact).map(str::to_owned);
        let version = self.version_of(place, made.as_deref(), version).await?;
        Ok(self.show_version(&write.caller, place.workspace, place.path, version).await?)
    }

    async fn newest_version(
        &self,
        place: FileAddress<'_>,
    ) -> Result<Option<FileVersion>, HarnError> {
        let Some(entry) = self.file_entry(place.workspace, place.path) else { return Ok(None) };
        self.reading(move |harness| harness.file_version(&entry, None)).await
    }

    /// The version that a commit made: an earlier one where an idempotency key was used again.
    async fn version_of(
        &self,
        place: FileAddress<'_>,
        artifact: Option<&str>,
        written: FileVersion,
    ) -> Result<FileVersion, HarnError> {
        let Some(artifact) = artifact.filter(|id| *id != written.artifact_id) else {
            return Ok(written);
        };
        let (entry, wanted) = (self.file_entry(place.workspace, place.path), artifact.to_owned());
        let found = self.reading(move |harness| {
            let Some(entry) = entry else { return Ok(None) };
            for version in (1..=entry.earlier.len() as u64 + 1).rev() {
                let found = harness.file_version(&entry, Some(version))?;
                if let Some(found) = found.filter(|found| found.artifact_id == wanted) {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        });
        Ok(found.await?.unwrap_or(written))
    }

    /// Who wrote the last version may write the next, and so may who has at least the authority that it was written with.
    /// A key that may speak for anybody proves no name.
    fn check_rewriting(
        &self,
        caller: &Caller,
        path: &FilePath,
        newest: &FileVersion,
    ) -> Result<(), HarnError> {
        let own = caller.own_key && caller.agent == newest.by;
        let needed = newest.authority;
        if own || self.authority_of(caller, None) >= needed {
            return Ok(());
        }
        let message = format!("{path} was written with authority {needed}, and so it is replaced");
        Err(HarnError::new(HarnErrorCode::PermissionDenied, message))
    }

    fn new_artifact(
        &self,
        place: FileAddress<'_>,
        digest: Sha256,
        request: &WriteFileRequest,
    ) -> Artifact {
        let mut envelope = ResourceEnvelope::new(self.draw(ResourceKind::Artifact), "");
        envelope.metadata = crate::resource::artifact::own_members(request.metadata.clone());
        Artifact {
            object: ArtifactObject::Artifact,
            envelope,
            kind: ArtifactKind::File,
            mime_type: MIME.to_owned(),
            uri: Some(format!("workspace:{}/{}", place.workspace, place.path)),
            visibility: Visibility::Public,
            sha256: Some(digest.bare()),
            workspace_id: Some(place.workspace.to_owned()),
            session_id: None,
            task_id: None,
            receipt_id: None,
        }
    }

    fn file_documents(
        &self,
        place: FileAddress<'_>,
        artifact: &Artifact,
        version: &FileVersion,
        content: &str,
    ) -> Result<Vec<DocumentDraft>, HarnError> {
        let owner = DocumentOwner {
            workspace: Some(place.workspace.to_owned()),
            ..DocumentOwner::default()
        };
        let (id, kind) = (&artifact.envelope.id, DocumentKind::Artifact);
        let (digest, kept) = self.keep_content(content.as_bytes())?;
        let mut documents = vec![self.draft(kind, id, owner.clone(), Expect::New, artifact)?];
        if !self.has_content(&digest) {
            documents.push(kept);
        }
        documents.push(holding(id, &digest));
        let file = file_id(place.workspace, place.path.as_str());
        documents.push(self.draft(DocumentKind::File, &file, owner, Expect::Any, version)?);
        Ok(documents)
    }
}

/// A file is no directory, and nothing is below one.
fn check_place(state: &State, place: FileAddress<'_>) -> Result<(), HarnError> {
    let FileAddress { workspace, path } = place;
    let conflict = |message: String| HarnError::new(HarnErrorCode::Conflict, message).at("path");
    if is_directory(state, workspace, path) {
        return Err(conflict(format!("path: {path} is a directory")));
    }
    let is_file = |outer: &&str| {
        state.documents.get(DocumentKind::File, &file_id(workspace, outer)).is_some()
    };
    match path.directories().find(is_file) {
        Some(outer) => Err(conflict(format!("path: {outer} is a file, and nothing is below it"))),
        None => Ok(()),
    }
}
