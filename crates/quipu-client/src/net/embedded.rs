//! A Field inside this process: the server's own router without a listener, over SQLite in a data
//! directory or over memory. Opened with the defaults of `quipu serve`.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http_body_util::BodyExt as _;
use hyper::{Request, Response, body::Bytes};
use quipu_field::{DetectionOptions, FieldOptions, Fields, SystemOrigin, limits::DETECT_SURENESS};
use quipu_log::{Engine, MemoryEngine, SqliteEngine, SqliteOptions, sqlite::OpenError};
use quipu_server::{Embedded, EmbeddedOptions, KeyStore};
use quipu_wire::limits::AUTHORITY_MAX;
use tempfile::TempDir;

use crate::{error::ClientError, net::transport::StreamBody};

const FIELDS: &str = "fields";

/// A Field inside this process.
#[derive(Debug)]
pub(crate) struct Inside {
    embedded: Embedded,
    closed: AtomicBool,
    /// What lasts only as long as this.
    _scratch: Option<TempDir>,
}

impl Inside {
    /// Opens a data directory, which is made if it is not there, and holds its lock. All that is asked has this authority.
    pub(crate) async fn open(dir: &Path, authority: u8) -> Result<Self, ClientError> {
        let at = dir.to_owned();
        let opened =
            tokio::task::spawn_blocking(move || SqliteEngine::open(&at, SqliteOptions::default()));
        let opened = opened.await.map_err(|error| failure(&dir.display(), error))?;
        let engine = opened.map_err(|error| open_error(dir, error))?;
        Self::over(Arc::new(engine), dir, Some(dir.join(FIELDS)), None, authority).await
    }

    /// A Field that is gone with this.
    pub(crate) async fn in_memory() -> Result<Self, ClientError> {
        // The keys that sign proofs and receipts are files.
        let scratch =
            tempfile::tempdir().map_err(|error| failure(&"a scratch directory", error))?;
        let keys = scratch.path().to_owned();
        Self::over(Arc::new(MemoryEngine::new()), &keys, None, Some(scratch), AUTHORITY_MAX).await
    }

    async fn over(
        engine: Arc<dyn Engine>,
        keys: &Path,
        fields: Option<PathBuf>,
        scratch: Option<TempDir>,
        authority: u8,
    ) -> Result<Self, ClientError> {
        let template = FieldOptions {
            detection: DetectionOptions::built_in(DETECT_SURENESS),
            ..FieldOptions::new(Arc::new(SystemOrigin))
        };
        let fields = Arc::new(Fields::with_options(engine, template, fields));
        let store = KeyStore::open(keys).map_err(|error| failure(&keys.display(), error))?;
        let options = EmbeddedOptions { authority, ..EmbeddedOptions::default() };
        let embedded = Embedded::open(options, fields, Arc::new(store))
            .await
            .map_err(|error| failure(&keys.display(), error))?;
        Ok(Self { embedded, closed: AtomicBool::new(false), _scratch: scratch })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) async fn exchange(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, ClientError> {
        let (parts, body) = self.embedded.answer(request).await.into_parts();
        let body = body
            .collect()
            .await
            .map_err(|error| ClientError::broken("the Field inside this process", error))?;
        Ok(Response::from_parts(parts, body.to_bytes()))
    }

    pub(crate) async fn stream(&self, request: Request<Bytes>) -> Response<StreamBody> {
        self.embedded
            .answer(request)
            .await
            .map(|body| body.map_err(io::Error::other).boxed_unsync())
    }

    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.embedded.close().await;
    }
}

fn open_error(dir: &Path, error: OpenError) -> ClientError {
    if let OpenError::InUse { dir } = error {
        return ClientError::InUse { dir };
    }
    failure(&dir.display(), error)
}

fn failure(
    what: &dyn std::fmt::Display,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> ClientError {
    ClientError::Open { what: what.to_string(), source: source.into() }
}
