//! Why a directory does not hold a model that we can run.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a directory cannot be used as a model.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// A file is missing or cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the file system.
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} is not usable: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor is missing or of the wrong shape.
    #[error("the tensor {name} {reason}")]
    Tensor {
        /// The name of the tensor.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl DirectoryError {
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }

    pub(super) fn wrong(path: &Path, reason: impl Into<String>) -> Self {
        Self::Wrong { path: path.to_owned(), reason: reason.into() }
    }
}
