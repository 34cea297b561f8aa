//! A real server in this process, over memory, with the options of `quipu serve --dev`.

use std::{sync::Arc, time::Duration};

use quipu_client::Field;
use quipu_field::{DetectionOptions, FieldOptions, Fields, SystemOrigin, limits::DETECT_SURENESS};
use quipu_log::MemoryEngine;
use quipu_server::{HarnOptions, KeyStore, Options, PushOptions, Server};
use tokio::{sync::oneshot, task::JoinHandle};

/// A running server. It is stopped in order by `stop`.
pub(crate) struct TestServer {
    url: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
    _directory: tempfile::TempDir,
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let keys = Arc::new(KeyStore::open(directory.path()).unwrap());
        let template = FieldOptions {
            detection: DetectionOptions::built_in(DETECT_SURENESS),
            ..FieldOptions::new(Arc::new(SystemOrigin))
        };
        let engine = Arc::new(MemoryEngine::new());
        let fields = Arc::new(Fields::with_options(engine, template, None));
        let options = Options {
            listen: "127.0.0.1:0".parse().unwrap(),
            dev: true,
            tls: None,
            shutdown_grace: Duration::from_secs(20),
            write_timeout: quipu_server::WRITE_TIMEOUT,
            push: PushOptions::default(),
            requests_per_second: None,
            harn: HarnOptions::default(),
        };
        let server = Server::bind(options, fields, keys).await.unwrap();
        let url = format!("http://{}", server.local_addr());
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async { drop(stopped.await) }));
        Self { url, stop, running, _directory: directory }
    }

    /// Its Field `default`.
    pub(crate) fn field(&self) -> Field {
        Field::connect(&self.url).build().unwrap()
    }

    pub(crate) async fn stop(self) {
        drop(self.stop);
        self.running.await.unwrap();
    }
}
