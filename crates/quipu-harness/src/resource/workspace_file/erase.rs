//! Taking a file away with all that it ever said. Its versions stay as Artifacts without content; the path is free again.

use quipu_core::{
    DocumentKind,
    rules::harn::{AUTHORITY_WRITE, DocumentDraft},
    rules::harn::{Expect, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::harn::{Artifact, FilePath, HarnError};

use super::read::{no_file, of_path};
use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        caller::AUTHORITY_POLICY, retry::WriteError, retry::retry_until_unchanged, write::Target,
    },
    stored::{artifact_marks::is_redacted, file_version::FileVersion},
};

impl Harness {
    /// `DELETE /v1/workspaces/{workspace_id}/files?path=`. Ours. Where it was cut short, doing it again goes on.
    ///
    /// # Errors
    /// 404 where there is no such file; 403 for who did not write all of its versions and has less than authority 8.
    pub async fn erase_workspace_file(
        &self,
        write: &WriteRequest,
        workspace: &str,
        path: &FilePath,
    ) -> Result<(), HarnError> {
        self.check_workspace(workspace).map_err(of_path)?;
        retry_until_unchanged(|| self.erase_file_once(write, workspace, path)).await
    }

    async fn erase_file_once(
        &self,
        write: &WriteRequest,
        workspace: &str,
        path: &FilePath,
    ) -> Result<(), WriteError> {
        let read_at = self.field.head().position;
        let entry = self.file_entry(workspace, path);
        let entry = entry.ok_or_else(|| no_file(workspace, path))?;
        let versions = self.all_versions(entry.clone()).await?;
        check_erasing(&write.caller, &versions)?;
        for version in &versions {
            // Where it was taken away before, only its bytes may be left to erase.
            let artifact: Artifact = self.artifact(&write.caller, &version.artifact_id).await?;
            if is_redacted(&artifact) || self.held(&artifact).is_some() {
                self.redact_artifact(&write.caller, &version.artifact_id).await?;
            }
        }
        let _turn = self.changing.lock().await;
        let command = HarnCommand {
            documents: vec![removal(&entry)],
            read_at: Some(read_at),
            ..HarnCommand::default()
        };
        let target = format!("/v1/workspaces/{workspace}/files?path={path}");
        let target = Target { workspace, method: "DELETE", path: &target };
        self.write(write, target, None, command).await?;
        Ok(())
    }

    async fn all_versions(&self, entry: DocumentEntry) -> Result<Vec<FileVersion>, HarnError> {
        let count = entry.earlier.len() as u64 + 1;
        let each = move |harness: &Self| {
            (1..=count)
                .filter_map(|at| harness.file_version(&entry, Some(at)).transpose())
                .collect()
        };
        self.reading(each).await
    }
}

fn check_erasing(caller: &Caller, versions: &[FileVersion]) -> Result<(), HarnError> {
    let own = caller.own_key && versions.iter().all(|version| version.by == caller.agent);
    caller.require(if own { AUTHORITY_WRITE } else { AUTHORITY_POLICY })
}

fn removal(entry: &DocumentEntry) -> DocumentDraft {
    DocumentDraft {
        kind: DocumentKind::File,
        id: entry.id.clone(),
        owner: entry.owner.clone(),
        expect: Expect::Removal,
        body: None,
        quotes: Vec::new(),
    }
}
