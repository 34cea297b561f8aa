//! Storage for snapshots that several nodes share: a directory, or object storage that speaks S3. Implements
//! `SnapshotStore` of `quipu-field` and knows nothing of what is stored.

mod connector;
mod directory;
mod open;
mod s3;

pub use directory::DirectoryStore;
pub use open::{OpenStoreError, open};
pub use s3::S3Store;
