//! The files of the repository, read once. Rules look only here, so that their tests need no disk.
//! What git ignores is not part of the tree.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;

/// Folders that are never ours, for a copy of the repository that has no git.
const NEVER_OURS: [&str; 3] = [".git", "target", "quipu-data"];

#[derive(Debug)]
struct File {
    size_bytes: usize,
    /// None for a file that is not UTF-8.
    text: Option<String>,
}

/// Every file by its path relative to the root, with `/` between the parts.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, File>,
}

impl Tree {
    /// Reads what git tracks or would track; without git, everything but build output.
    pub(crate) fn load(root: &Path) -> io::Result<Self> {
        let paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walked(root)?,
        };
        let mut tree = Self::default();
        for path in paths {
            let full = root.join(&path);
            // git still lists a file that was removed but not yet staged as removed.
            if full.is_file() {
                tree.insert(path, std::fs::read(full)?);
            }
        }
        Ok(tree)
    }

    pub(crate) fn insert(&mut self, path: String, bytes: Vec<u8>) {
        let size_bytes = bytes.len();
        self.files.insert(path, File { size_bytes, text: String::from_utf8(bytes).ok() });
    }

    /// A tree made of the given texts, for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.insert((*path).to_owned(), text.as_bytes().to_vec());
        }
        tree
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether any file lies below this folder; the empty path is the root.
    pub(crate) fn contains_folder(&self, path: &str) -> bool {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        self.files.keys().any(|file| file.starts_with(&prefix))
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(crate) fn sizes(&self) -> impl Iterator<Item = (&str, usize)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file.size_bytes))
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.text.as_deref()
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, file)| Some((path.as_str(), file.text.as_deref()?)))
    }

    /// Every text file whose name ends so.
    pub(crate) fn with_ending(&self, ending: &'static str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| path.ends_with(ending))
    }

    /// The first line of a file that the predicate accepts, counted from 1; line 1 if there is none.
    pub(crate) fn line_where(&self, path: &str, accepts: impl Fn(&str) -> bool) -> usize {
        let mut lines = self.text(path).unwrap_or_default().lines();
        lines.position(accepts).map_or(1, |index| index + 1)
    }
}

/// None where the folder is not the top of a git checkout, or git cannot be run.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let listing = String::from_utf8(listing.stdout).ok()?;
    Some(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walked(root: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if !entry.file_type()?.is_dir() {
                files.push(path);
            } else if !NEVER_OURS.contains(&path.as_str()) {
                folders.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, bytes: &[u8]) {
        let full = root.join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, bytes).unwrap();
    }

    #[test]
    fn without_git_build_output_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "src/a.rs", b"//! A.\n");
        write(folder.path(), "target/debug/b.rs", b"");
        let tree = Tree::load(folder.path()).unwrap();
        assert_eq!(tree.paths().collect::<Vec<_>>(), ["src/a.rs"]);
        assert_eq!(tree.text("src/a.rs"), Some("//! A.\n"));
    }

    #[test]
    fn a_file_that_is_not_text_has_a_size_only() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "model.bin", &[0xff, 0xfe, 0x00]);
        let tree = Tree::load(folder.path()).unwrap();
        assert_eq!(tree.text("model.bin"), None);
        assert_eq!(tree.sizes().collect::<Vec<_>>(), [("model.bin", 3)]);
    }

    #[test]
    fn folders_are_known_by_their_files() {
        let tree = Tree::of(&[("docs/errors/A.md", "")]);
        assert!(tree.contains_folder("docs/errors"));
        assert!(tree.contains_folder(""));
        assert!(!tree.contains_folder("docs/err"));
    }
}
