//! From an address to a storage.

use std::{path::Path, sync::Arc};

use quipu_field::SnapshotStore;

use crate::{directory::DirectoryStore, s3::S3Store};

#[derive(Debug, thiserror::Error)]
pub enum OpenStoreError {
    #[error("{url} is neither file:///DIR nor s3://BUCKET/PREFIX")]
    Address { url: String },
    #[error("{url} cannot be used")]
    Unusable {
        url: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Opens the storage at `file:///DIR` or `s3://BUCKET/PREFIX`. What else S3 needs to know is in variables, named
/// and meant as every tool for S3 has them: `AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT_URL`. Nothing is
/// asked of the storage yet.
///
/// # Errors
/// If the address is none, or what was given does not suffice.
pub fn open(
    url: &str,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Arc<dyn SnapshotStore>, OpenStoreError> {
    let address = || OpenStoreError::Address { url: url.to_owned() };
    if let Some(path) = url.strip_prefix("file://") {
        let path = Path::new(path);
        if !path.is_absolute() {
            return Err(address());
        }
        return Ok(Arc::new(DirectoryStore::new(path.to_owned())));
    }
    let place = url.strip_prefix("s3://").ok_or_else(address)?;
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    if bucket.is_empty() {
        return Err(address());
    }
    let unusable = |source| OpenStoreError::Unusable { url: url.to_owned(), source };
    Ok(Arc::new(S3Store::new(bucket, prefix, variables).map_err(unusable)?))
}
