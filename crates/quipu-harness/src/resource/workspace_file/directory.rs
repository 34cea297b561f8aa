//! What is in a directory. A directory is no thing of its own: it is there while a file is under it.

use quipu_core::{DocumentKind, State, state::DocumentEntry};
use quipu_wire::harn::{
    FileKind, FileObject, FilePath, HarnError, WorkspaceFileEntry, WorkspaceFileListing,
};

use super::read::{file_id, no_file};
use crate::Harness;

/// How many entries one listing has.
const ENTRIES_MAX: usize = 500;
/// The letter behind the slash: a directory's name with it comes behind all that is below the directory.
const BEHIND_SLASH: char = '0';

/// A name in a directory, with the file's document where it is a file.
struct Child {
    name: String,
    file: Option<DocumentEntry>,
}

impl Child {
    /// What comes behind it begins here.
    fn mark(&self) -> String {
        if self.file.is_some() { self.name.clone() } else { format!("{}/", self.name) }
    }
}

impl Harness {
    pub(super) async fn list_directory(
        &self,
        workspace: &str,
        path: &FilePath,
        after: Option<&str>,
    ) -> Result<WorkspaceFileListing, HarnError> {
        let prefix = prefix(workspace, path);
        if !path.is_root() && !self.field.with_state(|state| has_files(state, &prefix)) {
            return Err(no_file(workspace, path));
        }
        let mut found = self.field.with_state(|state| children(state, &prefix, after));
        let more = found.len() > ENTRIES_MAX;
        found.truncate(ENTRIES_MAX);
        let next = found.last().filter(|_| more).map(Child::mark);
        found.sort_by(|one, other| one.name.cmp(&other.name));
        let directory = path.clone();
        let shown = self.reading(move |harness| {
            found.into_iter().map(|child| harness.show_child(&directory, child)).collect()
        });
        Ok(WorkspaceFileListing {
            object: FileObject::Listing,
            workspace_id: workspace.to_owned(),
            path: path.to_string(),
            entries: shown.await?,
            next,
        })
    }

    fn show_child(
        &self,
        directory: &FilePath,
        Child { name, file }: Child,
    ) -> Result<WorkspaceFileEntry, HarnError> {
        let path = match directory.is_root() {
            true => name.clone(),
            false => format!("{}/{name}", directory.as_str()),
        };
        let Some(entry) = file else {
            return Ok(WorkspaceFileEntry { name, path, kind: FileKind::Directory, size: 0 });
        };
        let size = self.file_version(&entry, None)?.map_or(0, |version| version.bytes);
        Ok(WorkspaceFileEntry { name, path, kind: FileKind::File, size })
    }
}

/// Whether files are under a path, so that it is a directory.
pub(super) fn is_directory(state: &State, workspace: &str, path: &FilePath) -> bool {
    has_files(state, &prefix(workspace, path))
}

fn prefix(workspace: &str, path: &FilePath) -> String {
    match path.is_root() {
        true => file_id(workspace, ""),
        false => file_id(workspace, path.as_str()) + "/",
    }
}

fn has_files(state: &State, prefix: &str) -> bool {
    let first = state.documents.first_from(DocumentKind::File, prefix);
    first.is_some_and(|entry| entry.id.starts_with(prefix))
}

/// What is directly under a prefix and behind a mark, and one more than a listing has. Goes from name to name: what is
/// below a directory is passed over.
fn children(state: &State, prefix: &str, after: Option<&str>) -> Vec<Child> {
    let mut found: Vec<Child> = Vec::new();
    let mut from = after.map_or_else(|| prefix.to_owned(), |mark| behind(prefix, mark));
    while found.len() <= ENTRIES_MAX
        && let Some(entry) = state.documents.first_from(DocumentKind::File, &from)
        && let Some(rest) = entry.id.strip_prefix(prefix)
    {
        let child = match rest.split_once('/') {
            Some((directory, _)) => Child { name: directory.to_owned(), file: None },
            None => Child { name: rest.to_owned(), file: Some(entry.clone()) },
        };
        from = behind(prefix, &child.mark());
        found.push(child);
    }
    found
}

/// The least id that comes behind a file of this name, or behind all that is below a directory.
fn behind(prefix: &str, mark: &str) -> String {
    match mark.strip_suffix('/') {
        Some(directory) => format!("{prefix}{directory}{BEHIND_SLASH}"),
        None => format!("{prefix}{mark}\0"),
    }
}
