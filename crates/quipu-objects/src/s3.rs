//! Object storage that speaks S3, through the crate `object_store`. Calls block: the requests run on threads of
//! this storage.

use std::{future::Future, sync::mpsc, time::Duration};

use futures_util::TryStreamExt;
use object_store::{
    ObjectStore, ObjectStoreExt, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey},
    path::Path,
};
use quipu_field::{SnapshotStore, StoreError};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

use crate::connector::Connector;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// How long one call may take, its repetitions included.
const CALL: Duration = Duration::from_secs(120);
/// How often a request is repeated that failed in passing. Whoever calls tries again later by itself.
const RETRIES: usize = 1;

/// A bucket, or a part of one.
#[derive(Debug)]
pub struct S3Store {
    bucket: AmazonS3,
    shown: String,
    prefix: Path,
    /// There until this is dropped.
    runtime: Option<Runtime>,
}

impl S3Store {
    /// What is below a prefix of a bucket.
    ///
    /// # Errors
    /// If the variables contradict each other, or there are no certificates to check a server with.
    pub fn new(
        bucket: &str,
        prefix: &str,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Cause> {
        let mut builder = AmazonS3Builder::new();
        for (name, value) in variables {
            if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        let retry =
            RetryConfig { max_retries: RETRIES, retry_timeout: CALL, ..RetryConfig::default() };
        let bucket_name = bucket.to_owned();
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("objects")
            .enable_all()
            .build()?;
        let bucket = builder
            .with_bucket_name(bucket)
            .with_allow_http(true)
            .with_retry(retry)
            .with_http_connector(Connector::new()?)
            .build()?;
        Ok(Self {
            bucket,
            shown: bucket_name,
            prefix: Path::parse(prefix)?,
            runtime: Some(runtime),
        })
    }

    fn path(&self, within: &str) -> Path {
        let parts = self.prefix.parts();
        Path::from_iter(
            parts.map(|part| part.as_ref().to_owned()).chain(within.split('/').map(str::to_owned)),
        )
    }

    /// Waits for requests that run on the threads of this storage, from whatever thread.
    fn wait<T, W>(
        &self,
        action: &str,
        path: &str,
        work: impl FnOnce(AmazonS3, Path) -> W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let path = self.path(path);
        let shown = format!("{action} s3://{}/{path}", self.shown);
        let failed = |source: Cause| StoreError { action: shown, source };
        let Some(runtime) = &self.runtime else { return Err(failed("it is closed".into())) };
        let (answer, answered) = mpsc::sync_channel(1);
        let work = work(self.bucket.clone(), path);
        runtime.spawn(async move {
            // Whoever waits waits for longer than this.
            answer.send(timeout(CALL, work).await).ok();
        });
        match answered.recv() {
            Ok(Ok(result)) => result.map_err(|error| failed(error.into())),
            Ok(Err(late)) => Err(failed(late.into())),
            Err(panicked) => Err(failed(panicked.into())),
        }
    }
}

impl Drop for S3Store {
    fn drop(&mut self) {
        // Whoever drops it may be a thread that must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl SnapshotStore for S3Store {
    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.wait("list", folder, |bucket, path| async move {
            let found = bucket.list(Some(&path)).try_collect::<Vec<_>>().await?;
            let name = |location: &Path| location.filename().map(str::to_owned);
            Ok(found.iter().filter_map(|object| name(&object.location)).collect())
        })
    }

    fn get(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        self.wait("read", path, |bucket, path| async move {
            Ok(Vec::from(bucket.get(&path).await?.bytes().await?))
        })
    }

    fn put(&self, path: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.wait("write", path, |bucket, path| async move {
            bucket.put(&path, bytes.into()).await.map(|_| ())
        })
    }

    fn delete(&self, path: &str) -> Result<(), StoreError> {
        self.wait("remove", path, |bucket, path| async move {
            match bucket.delete(&path).await {
                Err(object_store::Error::NotFound { .. }) => Ok(()),
                other => other,
            }
        })
    }
}
