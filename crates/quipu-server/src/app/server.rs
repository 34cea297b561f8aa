//! The server as a whole: bound, run, and shut down in order.

use std::{io, net::SocketAddr, num::NonZeroU32, sync::Arc, time::Duration};

use quipu_field::Fields;
use quipu_log::{EngineError, FieldName};
use quipu_wire::limits::AUTHORITY_MAX;
use tokio::net::TcpListener;

use crate::{
    app::{
        listener::Listener,
        service::{Service, ServiceError, ServiceOptions},
    },
    clock::Stopwatch,
    net::{
        handles,
        tls::{TlsError, TlsFiles, TlsReload},
    },
    pipeline::{
        options::{HarnOptions, HarnSetupError, PushOptions},
        throttle::Throttle,
    },
    secrets::keys::KeyStore,
};

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
    pub push: PushOptions,
    /// How many requests each key may send a second; any number without. Without keys, in `dev`, nobody is counted.
    pub requests_per_second: Option<NonZeroU32>,
    pub harn: HarnOptions,
}

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("--dev turns authentication off and needs a loopback address, not {listen}")]
    DevNotLoopback { listen: SocketAddr },
    #[error("cannot listen on {listen}")]
    Listen {
        listen: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("cannot offer TLS")]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Harn(#[from] HarnSetupError),
    #[error("cannot open the field {field}")]
    Field {
        field: FieldName,
        #[source]
        source: EngineError,
    },
}

/// A server that holds its address and serves once it is run.
pub struct Server {
    local_addr: SocketAddr,
    service: Service,
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
        let tls = options.tls.as_ref().map(TlsReload::open).transpose()?;
        let not_listening = |source| BindError::Listen { listen, source };
        let tcp = TcpListener::bind(listen).await.map_err(not_listening)?;
        let local_addr = tcp.local_addr().map_err(not_listening)?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let connections_max = handles::connections_max();
        let mut push = options.push;
        // A stream is a connection: there must be some left for those who ask.
        push.streams_max = push.streams_max.min(connections_max / 4 * 3);
        if options.dev {
            keys.keep_changes_in_memory();
        }
        let made_of = ServiceOptions {
            dev: options.dev,
            push,
            harn: &options.harn,
            keyless_authority: AUTHORITY_MAX,
            throttle: options.requests_per_second.filter(|_| !options.dev).map(Throttle::new),
            secure: tls.is_some(),
            listens: Some(local_addr),
            address: format!("{scheme}://{local_addr}"),
        };
        let service = Service::open(made_of, fields, keys).await.map_err(|error| match error {
            ServiceError::Harn(error) => BindError::Harn(error),
            ServiceError::Field { field, source } => BindError::Field { field, source },
        })?;
        let (grace, entrance) = (options.shutdown_grace, Arc::clone(&service.entrance));
        let write_timeout = options.write_timeout;
        let listener = Listener { tcp, tls, entrance, grace, write_timeout, connections_max };
        Ok(Self { local_addr, service, grace, listener })
    }

    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// By what the certificate is read again; none without TLS.
    #[must_use]
    pub fn tls_reload(&self) -> Option<TlsReload> {
        self.listener.tls.clone()
    }

    /// Serves until `shutdown` resolves; then stops accepting, lets requests under way finish within
    /// the grace, and closes all Fields. Modules are ended at once: they run again at the next start.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) {
        self.service.start();
        let stopping = self.service.stopping.clone();
        let mut since = None;
        let told = async {
            shutdown.await;
            since = Some(Stopwatch::start());
            stopping.send_replace(true);
            self.service.stop_modules();
        };
        self.listener.run(told).await;
        // A WebSocket is no connection of the listener's any more: closing waits for it, for what is left of the grace.
        let waited = since.map_or(0, |since| since.elapsed_ms());
        self.service.close(self.grace.saturating_sub(Duration::from_millis(waited))).await;
    }
}
