//! A server on a free port of this machine, in a thread of its own, over memory.

use std::{
    net::SocketAddr,
    num::NonZeroU32,
    path::Path,
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use quipu_field::{FieldOptions, Fields, Keeping, SystemOrigin};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_server::{
    HarnOptions, KeyStore, LogMeter, ModuleHost, Options, PushOptions, Server, TlsFiles, TlsReload,
    secrets::keys::{KeyAgent, NewKey},
};
use tokio::sync::oneshot;

use super::{Client, wait_until};

/// What a server is started with.
pub(crate) struct Setup {
    pub(crate) dev: bool,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) grace: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) push: PushOptions,
    pub(crate) requests_per_second: Option<NonZeroU32>,
    pub(crate) harn: HarnOptions,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) keeping: Keeping,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            dev: false,
            tls: None,
            grace: Duration::from_secs(20),
            write_timeout: quipu_server::WRITE_TIMEOUT,
            push: PushOptions::default(),
            requests_per_second: NonZeroU32::new(quipu_server::REQUESTS_PER_SECOND),
            harn: HarnOptions {
                modules: ModuleHost::InThisProcessWhichTheyCanAbort,
                ..HarnOptions::default()
            },
            engine: Arc::new(MemoryEngine::new()),
            keeping: Keeping::default(),
        }
    }
}

/// A running server. It is stopped when dropped.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) keys: Arc<KeyStore>,
    pub(crate) fields: Arc<Fields>,
    pub(crate) tls: Option<TlsReload>,
    pub(crate) directory: tempfile::TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    /// A server that asks for keys.
    pub(crate) fn start() -> Self {
        Self::with(Setup::default())
    }

    /// A server that asks for none.
    pub(crate) fn dev() -> Self {
        Self::with(Setup { dev: true, ..Setup::default() })
    }

    pub(crate) fn with(setup: Setup) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let of_keys = directory.path().to_owned();
        let mut server = Self::with_directory(setup, &of_keys);
        server.directory = directory;
        server
    }

    /// A server whose keys are in this directory.
    pub(crate) fn with_directory(setup: Setup, of_keys: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let keys = Arc::new(KeyStore::open(of_keys).unwrap());
        let meter = Arc::new(LogMeter);
        let template = FieldOptions { meter, ..FieldOptions::new(Arc::new(SystemOrigin)) };
        let fields = Fields::with_options(setup.engine, template, None);
        let fields = Arc::new(fields.keeping(setup.keeping));
        let options = Options {
            listen: "127.0.0.1:0".parse().unwrap(),
            dev: setup.dev,
            tls: setup.tls,
            shutdown_grace: setup.grace,
            write_timeout: setup.write_timeout,
            push: setup.push,
            requests_per_second: setup.requests_per_second,
            harn: setup.harn,
        };
        let (bound, address) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let (of_server, with_keys) = (Arc::clone(&fields), Arc::clone(&keys));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let server = Server::bind(options, of_server, with_keys).await.unwrap();
                bound.send((server.local_addr(), server.tls_reload())).unwrap();
                server.run(async { drop(stopped.await) }).await;
            });
        });
        let (address, tls) = address.recv().unwrap();
        Self { address, keys, fields, tls, directory, stop: Some(stop), thread: Some(thread) }
    }

    /// Tells the server to stop, without waiting for it.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until the server has ended.
    pub(crate) fn join(&mut self) {
        self.thread.take().unwrap().join().unwrap();
    }

    /// Waits until so many streams of pushes are open.
    pub(crate) fn wait_for_streams(&self, count: usize) {
        let open = format!("quipu_push_streams {count}\n");
        let mut client = self.operator();
        wait_until("the streams are open", || client.get("/metrics").text().contains(&open));
    }

    /// A key for any agent and any Field.
    pub(crate) fn key(&self, authority: u8) -> String {
        self.key_for(KeyAgent::Any, authority, None)
    }

    pub(crate) fn key_for(&self, agent: KeyAgent, authority: u8, field: Option<&str>) -> String {
        let field = field.map(|name| FieldName::try_from(name).unwrap());
        let key = NewKey { agent, authority, field, label: None, roles: Vec::new() };
        self.keys.create(key).unwrap().secret
    }

    /// A connection without a key.
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// A connection with a key for everything.
    pub(crate) fn operator(&self) -> Client {
        self.client().with_key(&self.key(10))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
