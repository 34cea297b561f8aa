//! The files of a server, copied while it is down and restored later, as an operator does with an old backup.

use std::{path::Path, process::Command};

use tempfile::TempDir;

/// A copy of a folder.
#[derive(Debug)]
pub struct Backup(TempDir);

fn copy(from: &Path, to: &Path) {
    let script = "rm -rf \"$2\" && cp -a \"$1\" \"$2\"";
    let done = Command::new("sh").args(["-c", script, "sh"]).arg(from).arg(to).status();
    assert!(done.is_ok_and(|it| it.success()), "files can be copied");
}

impl Backup {
    /// Copies a folder.
    pub(crate) fn of(folder: &Path) -> Self {
        let place = tempfile::tempdir().expect("there is room for files");
        copy(folder, &place.path().join("copy"));
        Self(place)
    }

    /// Puts the copy in the folder's place.
    pub(crate) fn put_back(&self, folder: &Path) {
        copy(&self.0.path().join("copy"), folder);
    }
}
