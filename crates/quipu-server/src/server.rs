//! The server as a whole: bound, run, and shut down in order.

use std::{io, net::SocketAddr, num::NonZeroU32, sync::Arc, time::Duration};

use quipu_field::Fields;
use quipu_log::{EngineError, FieldName};
use tokio::{net::TcpListener, sync::watch, time::timeout};

use crate::{
    app::App,
    harn::{HarnOptions, HarnSetupError},
    keys::KeyStore,
    limits::{HEARTBEAT, LEASE_CHECK, METRICS_UPKEEP, STREAMS_MAX},
    listener::Listener,
    mcp,
    metrics::{MetricsHandle, install_metrics},
    throttle::Throttle,
    tls::{self, TlsError, TlsFiles},
};

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen; port 0 takes any free one.
    pub listen: SocketAddr,
    /// No authentication, and authority 10 for everybody. Only on loopback.
    pub dev: bool,
    /// Speak TLS with this certificate; plain HTTP without.
    pub tls: Option<TlsFiles>,
    /// How long requests under way may take once the server is told to stop.
    pub shutdown_grace: Duration,
    /// How long a caller may take nothing of what it is sent; then it is cut off.
    pub write_timeout: Duration,
    /// How streams of pushes are kept.
    pub push: PushOptions,
    /// How many requests each key may send a second; any number without. Without keys, in `dev`, nobody is counted.
    pub requests_per_second: Option<NonZeroU32>,
    /// How the Harn protocol is served.
    pub harn: HarnOptions,
}

/// How streams of pushes are kept.
#[derive(Debug, Clone, Copy)]
pub struct PushOptions {
    /// How often a stream says that it is there, and looks whether its key still holds.
    pub heartbeat: Duration,
    /// How many may be open at one time.
    pub streams_max: usize,
}

impl Default for PushOptions {
    fn default() -> Self {
        Self { heartbeat: HEARTBEAT, streams_max: STREAMS_MAX }
    }
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Without authentication the server must not be reachable from elsewhere.
    #[error("--dev turns authentication off and needs a loopback address, not {listen}")]
    DevNotLoopback {
        /// The refused address.
        listen: SocketAddr,
    },
    /// The address cannot be had.
    #[error("cannot listen on {listen}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// TLS cannot be offered.
    #[error("cannot offer TLS")]
    Tls(#[from] TlsError),
    /// The Harn protocol cannot be served.
    #[error(transparent)]
    Harn(#[from] HarnSetupError),
    /// The default Field cannot be opened.
    #[error("cannot open the field {field}")]
    Field {
        /// Its name.
        field: FieldName,
        /// Why.
        #[source]
        source: EngineError,
    },
}

/// A server that holds its address and serves once it is run.
pub struct Server {
    local_addr: SocketAddr,
    fields: Arc<Fields>,
    metrics: MetricsHandle,
    stopping: watch::Sender<bool>,
    grace: Duration,
    listener: Listener,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("local_addr", &self.local_addr).finish_non_exhaustive()
    }
}

impl Server {
    /// Takes the address and opens the default Field. From here on connections wait to be accepted.
    pub async fn bind(
        options: Options,
        fields: Arc<Fields>,
        keys: Arc<KeyStore>,
    ) -> Result<Self, BindError> {
        let listen = options.listen;
        if options.dev && !listen.ip().is_loopback() {
            return Err(BindError::DevNotLoopback { listen });
        }
        let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let not_listening = |source| BindError::Listen { listen, source };
        let tcp = TcpListener::bind(listen).await.map_err(not_listening)?;
        let local_addr = tcp.local_addr().map_err(not_listening)?;
        let default = FieldName::default_field();
        let field = fields.open(&default).await;
        let field = field.map_err(|source| BindError::Field { field: default, source })?;
        let metrics = install_metrics();
        let (of_app, dev, harn) = (Arc::clone(&fields), options.dev, &options.harn);
        let mut app = App::new(of_app, keys, dev, metrics.clone(), options.push, harn)?;
        app.harnesses.of(&field);
        app.secure = tls.is_some();
        if harn.public_url.is_none() {
            let scheme = if app.secure { "https" } else { "http" };
            app.public_url = format!("{scheme}://{local_addr}");
        }
        app.throttle = options.requests_per_second.filter(|_| !options.dev).map(Throttle::new);
        let app = Arc::new(app);
        let (stopping, grace) = (app.stopping.clone(), options.shutdown_grace);
        let entrance = Arc::new(mcp::entrance(app));
        let listener = Listener { tcp, tls, entrance, grace, write_timeout: options.write_timeout };
        Ok(Self { local_addr, fields, metrics, stopping, grace, listener })
    }

    /// Where it listens.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves until `shutdown` resolves; then stops accepting, lets requests under way finish within
    /// the grace, and closes all Fields.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) {
        let metrics = self.metrics;
        let upkeep = tokio::spawn(async move {
            loop {
                tokio::time::sleep(METRICS_UPKEEP).await;
                metrics.sum_up();
            }
        });
        let fields = Arc::clone(&self.fields);
        let leases = tokio::spawn(async move {
            loop {
                tokio::time::sleep(LEASE_CHECK).await;
                fields.opened().iter().for_each(|field| field.expire_leases());
            }
        });
        let stopping = self.stopping;
        let shutdown = async {
            shutdown.await;
            stopping.send_replace(true);
        };
        self.listener.run(shutdown).await;
        // A WebSocket is no connection of the listener's any more.
        timeout(self.grace, stopping.closed()).await.ok();
        upkeep.abort();
        leases.abort();
        self.fields.close().await;
    }
}
