//! What answers requests, however they come: the shared parts, the routes, and the work that goes on
//! beside them. `Server` puts a listener before it, `Embedded` a function call.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use quipu_field::{Field, Fields};
use quipu_log::{EngineError, FieldName};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    limits::{LEASE_CHECK, METRICS_UPKEEP, OPEN_ATTEMPTS, OPEN_PAUSE},
    net::hosts::OwnNames,
    observe::metrics::install_metrics,
    pipeline::{
        entrance::Entrance,
        options::{HarnOptions, HarnSetupError, PushOptions},
        state::App,
        throttle::Throttle,
    },
    routes::mcp,
    secrets::keys::KeyStore,
};

#[derive(Debug)]
pub(crate) struct ServiceOptions<'o> {
    pub(crate) dev: bool,
    pub(crate) push: PushOptions,
    pub(crate) harn: &'o HarnOptions,
    pub(crate) throttle: Option<Throttle>,
    /// What every caller may do where there are no keys.
    pub(crate) keyless_authority: u8,
    /// Whether callers come over TLS.
    pub(crate) secure: bool,
    /// Where the listener is, if there is one.
    pub(crate) listens: Option<SocketAddr>,
    /// Where callers reach us, if the options do not say.
    pub(crate) address: String,
}

#[derive(Debug)]
pub(crate) enum ServiceError {
    Harn(HarnSetupError),
    Field { field: FieldName, source: EngineError },
}

pub(crate) struct Service {
    pub(crate) entrance: Arc<Entrance>,
    app: Arc<App>,
    /// Whoever is at work on a request or a stream holds a receiver of it.
    pub(crate) stopping: watch::Sender<bool>,
    fields: Arc<Fields>,
    /// What goes on beside the requests; ends when this is dropped.
    beside: Mutex<JoinSet<()>>,
}

impl Service {
    /// Opens the default Field and makes everything ready. Nothing runs beside the requests yet.
    pub(crate) async fn open(
        options: ServiceOptions<'_>,
        fields: Arc<Fields>,
        keys: Arc<KeyStore>,
    ) -> Result<Self, ServiceError> {
        let default = FieldName::default_field();
        let opened = open_patiently(&fields, &default).await;
        opened.map_err(|source| ServiceError::Field { field: default, source })?;
        let (of_app, harn) = (Arc::clone(&fields), options.harn);
        let mut app = App::new(of_app, keys, options.dev, install_metrics(), options.push, harn)
            .map_err(ServiceError::Harn)?;
        app.secure = options.secure;
        let names = |listens| OwnNames::new(listens, harn.public_url.as_deref());
        app.own_names = options.listens.filter(|_| options.dev).map(names);
        if harn.public_url.is_none() {
            app.public_url = options.address;
        }
        app.throttle = options.throttle;
        app.keyless_authority = options.keyless_authority;
        let app = Arc::new(app);
        let stopping = app.stopping.clone();
        let entrance = Arc::new(mcp::entrance(Arc::clone(&app)));
        Ok(Self { entrance, app, stopping, fields, beside: Mutex::default() })
    }

    /// Starts what goes on beside the requests.
    pub(crate) fn start(&self) {
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        let metrics = install_metrics();
        beside.spawn(async move {
            loop {
                sleep(METRICS_UPKEEP).await;
                metrics.sum_up();
            }
        });
        let (fields, keys) = (Arc::clone(&self.fields), Arc::clone(&self.app.keys));
        beside.spawn(async move {
            loop {
                sleep(LEASE_CHECK).await;
                keys.check_for_changes();
                for field in fields.opened() {
                    field.expire_leases();
                }
                fields.tend().await;
            }
        });
        beside.spawn(Arc::clone(&self.app).begin_in_fields());
    }

    pub(crate) fn stop_modules(&self) {
        self.app.harnesses.stop_modules();
    }

    /// Waits until whoever is at work has ended, but not longer than `grace`, and closes all Fields. Then nothing is
    /// at work on them, and whoever drops this gives the data directory back.
    pub(crate) async fn close(&self, grace: Duration) {
        self.stopping.send_replace(true);
        self.stop_modules();
        timeout(grace, self.stopping.closed()).await.ok();
        let mut beside =
            std::mem::take(&mut *self.beside.lock().unwrap_or_else(PoisonError::into_inner));
        beside.shutdown().await;
        self.fields.close().await;
        timeout(grace, self.app.harnesses.ended()).await.ok();
    }
}

/// Opens a Field whose log may be on servers that are just starting too, as after a power cut.
async fn open_patiently(fields: &Fields, name: &FieldName) -> Result<Arc<Field>, EngineError> {
    for _ in 1..OPEN_ATTEMPTS {
        match fields.open(name).await {
            Err(error @ (EngineError::Io { .. } | EngineError::Unavailable { .. }))
                if fields.are_shared() =>
            {
                let error = quipu_field::with_causes(&error);
                tracing::warn!(field = %name, error, "the log does not answer yet");
                sleep(OPEN_PAUSE).await;
            }
            opened => return opened,
        }
    }
    fields.open(name).await
}
