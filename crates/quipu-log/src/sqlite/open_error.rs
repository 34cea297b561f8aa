//! Why a data directory or a field's files cannot be opened. Damage inside them is not here, see `damage`.

use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("data directory {} is in use by another process", dir.display())]
    InUse { dir: PathBuf },
    #[error("cannot {action} {}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not a quipu data directory: {reason}", dir.display())]
    NotADataDirectory { dir: PathBuf, reason: String },
    #[error(
        "{} has format {found}, this program reads up to {supported}: use a newer version of quipu",
        path.display()
    )]
    NewerFormat { path: PathBuf, found: u64, supported: u64 },
    #[error("data directory {} is open for reading only", dir.display())]
    ReadOnly { dir: PathBuf },
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
