//! The folder that a benchmark works in: a fresh one below what the user named, gone when dropped.
//! Nothing else of what the user named is ever touched.

use std::path::{Path, PathBuf};

/// A fresh folder.
#[derive(Debug)]
pub(crate) struct Workplace {
    path: PathBuf,
}

impl Workplace {
    /// A folder of this process below `dir`.
    pub(crate) fn new(dir: &Path, what: &str) -> Self {
        Self { path: dir.join(format!("quipu-bench-{what}-{}", std::process::id())) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.path).ok();
    }
}
