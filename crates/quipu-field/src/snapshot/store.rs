//! Where nodes leave snapshots for each other: a directory that all see, or object storage. Only the contract is
//! here; who keeps it is in the crate `quipu-objects`, and what is done with it in `depot.rs`.

use std::fmt;

#[derive(Debug, thiserror::Error)]
#[error("cannot {action}")]
pub struct StoreError {
    pub action: String,
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// A place for files that several nodes see. Paths have parts with slashes between them.
///
/// All methods block, and answer in bounded time also where the storage is away. Nothing that is answered is trusted.
pub trait SnapshotStore: Send + Sync + fmt::Debug + 'static {
    /// The names of the files in a folder; none where there is no such folder.
    ///
    /// # Errors
    /// Where they cannot be listed.
    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError>;

    /// A file.
    ///
    /// # Errors
    /// Where it is not there or cannot be read.
    fn get(&self, path: &str) -> Result<Vec<u8>, StoreError>;

    /// Puts a file in its place, whole or not at all.
    ///
    /// # Errors
    /// Where it cannot be written. It may be there all the same.
    fn put(&self, path: &str, bytes: Vec<u8>) -> Result<(), StoreError>;

    /// Removes a file; one that is not there is removed already.
    ///
    /// # Errors
    /// Where it cannot be removed.
    fn delete(&self, path: &str) -> Result<(), StoreError>;
}
