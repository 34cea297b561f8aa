//! The path of a file in a Workspace: relative, of plain names, in one form only. No path leads out of its Workspace.

use std::fmt;

use super::{HarnError, HarnErrorCode};
use crate::quote::is_hidden;

/// The longest path, in bytes.
pub const FILE_PATH_BYTES_MAX: usize = 1024;
/// The longest name in one, in bytes.
pub const FILE_NAME_BYTES_MAX: usize = 255;

/// The path of a file or a directory; empty for the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePath(String);

impl FilePath {
    /// Reads a path. A `.` in it means nothing, and neither does a `/` at its end; nothing at all, or `.`, is the root.
    ///
    /// # Errors
    /// 400 where it is absolute or too long, or a name in it is empty, is `..`, is too long, or holds a backslash, a control
    /// character or what is not seen.
    pub fn read(text: &str) -> Result<Self, HarnError> {
        if text.len() > FILE_PATH_BYTES_MAX {
            return Err(refused(&format!("must have at most {FILE_PATH_BYTES_MAX} bytes")));
        }
        if text.starts_with('/') {
            return Err(refused("must not begin with a slash: it is within its Workspace"));
        }
        let inner = text.strip_suffix('/').unwrap_or(text);
        let names = inner.split('/').filter(|name| *name != ".");
        let mut path = String::new();
        for name in names.filter(|_| !inner.is_empty()) {
            check_name(name)?;
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(name);
        }
        Ok(Self(path))
    }

    /// Whether it is the Workspace itself.
    #[must_use]
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path in its one form; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directories that it is in, the outermost first, without the root.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(at, _)| self.0.split_at(at).0)
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

fn check_name(name: &str) -> Result<(), HarnError> {
    if name.is_empty() {
        return Err(refused("must have no two slashes in a row"));
    }
    if name == ".." {
        return Err(refused("must stay in its Workspace: it may not have `..`"));
    }
    if name.len() > FILE_NAME_BYTES_MAX {
        return Err(refused(&format!(
            "a name in it must have at most {FILE_NAME_BYTES_MAX} bytes"
        )));
    }
    if name.chars().any(|letter| letter == '\\' || letter.is_control()) {
        return Err(refused("must have neither a backslash nor a control character"));
    }
    // What cannot be seen would make two paths of one.
    if name.chars().any(is_hidden) || name.trim() != name {
        return Err(refused("must have no letter that is not seen, and no blank around a name"));
    }
    Ok(())
}

fn refused(problem: &str) -> HarnError {
    HarnError::new(HarnErrorCode::InvalidRequest, format!("path: {problem}")).at("path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_form() {
        for (written, read) in [
            ("", ""),
            (".", ""),
            ("./", ""),
            ("a", "a"),
            ("a/b.txt", "a/b.txt"),
            ("./a/./b.txt", "a/b.txt"),
            ("a/b/", "a/b"),
            ("Ärger/…/日本.md", "Ärger/…/日本.md"),
            (".hidden/..odd", ".hidden/..odd"),
        ] {
            assert_eq!(FilePath::read(written).unwrap().as_str(), read, "{written:?}");
        }
        let path = FilePath::read("a/b/c").unwrap();
        assert_eq!(path.directories().collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(FilePath::read("").unwrap().to_string(), ".");
    }

    #[test]
    fn a_path_leads_nowhere_else() {
        let (long, longer) = ("n".repeat(256), "n/".repeat(513));
        for wrong in [
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a/..",
            "a//b",
            "//",
            "a\\b",
            "..\\a",
            "a\0b",
            "a\nb",
            "a/\u{85}",
            "C:\\x",
            "plan.md\u{200b}",
            "a/\u{202e}dm.nalp",
            "plan.md ",
            " a/plan.md",
            &long,
            &longer,
        ] {
            let error = FilePath::read(wrong).unwrap_err();
            assert_eq!(error.param.as_deref(), Some("path"), "{wrong:?}");
        }
    }
}
