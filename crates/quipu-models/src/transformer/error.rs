//! Why a directory does not hold a model that we can run.

use std::{
    io,
    path::{Path, PathBuf},
};

#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not usable: {reason}", path.display())]
    Wrong { path: PathBuf, reason: String },
    #[error("the tensor {name} {reason}")]
    Tensor { name: String, reason: String },
}

impl DirectoryError {
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }

    pub(super) fn wrong(path: &Path, reason: impl Into<String>) -> Self {
        Self::Wrong { path: path.to_owned(), reason: reason.into() }
    }
}
