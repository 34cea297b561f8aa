//! Why a data directory or a field's files cannot be opened. Damage inside them is not here, see `damage`.

use std::{io, path::PathBuf};

/// Why a data directory cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another engine, in this process or another, has the directory open.
    #[error("data directory {} is in use by another process", dir.display())]
    InUse {
        /// The directory.
        dir: PathBuf,
    },
    /// A file or directory cannot be made, opened or read.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The path is not a data directory.
    #[error("{} is not a quipu data directory: {reason}", dir.display())]
    NotADataDirectory {
        /// The directory.
        dir: PathBuf,
        /// What is missing or strange.
        reason: String,
    },
    /// A newer version of the program wrote this.
    #[error(
        "{} has format {found}, this program reads up to {supported}: use a newer version of quipu",
        path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The format it states.
        found: u64,
        /// The newest format that this program knows.
        supported: u64,
    },
    /// The engine was opened for reading.
    #[error("data directory {} is open for reading only", dir.display())]
    ReadOnly {
        /// The directory.
        dir: PathBuf,
    },
}

impl OpenError {
    pub(super) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
