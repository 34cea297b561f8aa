//! The servers that keep the log of a cluster, of either kind, behind one interface.

use std::path::Path;

use crate::{Backup, NatsServers, PostgresServer, Proxy, url_at, wait_until};

/// Which servers keep the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// One PostgreSQL server.
    Postgres,
    /// Three NATS servers as a cluster.
    Nats,
}

/// The running servers.
#[derive(Debug)]
pub enum EngineServers {
    /// One PostgreSQL server.
    Postgres(PostgresServer),
    Nats(NatsServers),
}

impl EngineServers {
    /// Starts servers of this kind.
    #[must_use]
    pub fn start(kind: EngineKind) -> Self {
        match kind {
            EngineKind::Postgres => Self::Postgres(PostgresServer::start()),
            EngineKind::Nats => Self::Nats(NatsServers::three()),
        }
    }

    /// Starts servers of this kind with their files below a folder; PostgreSQL with settings of its own.
    #[must_use]
    pub fn start_in(folder: &Path, kind: EngineKind, postgres_settings: &[&str]) -> Self {
        match kind {
            EngineKind::Postgres => {
                Self::Postgres(PostgresServer::start_in(folder, postgres_settings))
            }
            EngineKind::Nats => Self::Nats(NatsServers::three_in(folder)),
        }
    }

    /// The numbers of their processes, for what the system counts of them.
    #[must_use]
    pub fn process_ids(&self) -> Vec<u32> {
        match self {
            Self::Postgres(server) => server.process_id().into_iter().collect(),
            Self::Nats(servers) => servers.process_ids(),
        }
    }

    /// The ports at which they take clients.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        match self {
            Self::Postgres(server) => vec![server.port()],
            Self::Nats(servers) => (0..servers.count()).map(|at| servers.port(at)).collect(),
        }
    }

    /// What `--log` says to reach them without a proxy.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_through(&self.ports())
    }

    /// What `--log` says to reach them at other ports, one for each of theirs.
    #[must_use]
    pub fn url_through(&self, ports: &[u16]) -> String {
        match self {
            Self::Postgres(server) => {
                url_at(ports.first().copied().unwrap_or_else(|| server.port()))
            }
            Self::Nats(servers) => servers.url_through(ports),
        }
    }

    /// Starts a proxy to each server.
    #[must_use]
    pub fn proxies(&self) -> Vec<Proxy> {
        self.ports().into_iter().map(Proxy::to).collect()
    }

    /// Kills one of them without a warning.
    pub fn kill(&mut self, at: usize) {
        match self {
            Self::Postgres(server) => server.kill(),
            Self::Nats(servers) => servers.kill(at),
        }
    }

    /// Starts one of them again over its files.
    pub fn run(&mut self, at: usize) {
        match self {
            Self::Postgres(server) => server.run(&[]),
            Self::Nats(servers) => servers.run(at),
        }
    }

    /// Copies everything that they keep. They are down meanwhile.
    pub fn save(&mut self) -> Backup {
        self.while_down(Backup::of)
    }

    /// Restores the copy; everything after it is lost.
    pub fn restore(&mut self, backup: &Backup) {
        self.while_down(|folder| backup.put_back(folder));
    }

    fn while_down<T>(&mut self, act: impl Fn(&Path) -> T) -> T {
        let all = self.ports().len();
        (0..all).for_each(|at| self.kill(at));
        let done = match self {
            Self::Postgres(server) => act(&server.data()),
            Self::Nats(servers) => act(&servers.stores()),
        };
        (0..all).for_each(|at| self.run(at));
        done
    }

    /// Waits until all servers have everything of a Field. Only then may one of three die: before, the guarantees
    /// would not cover it.
    pub fn await_whole(&self, field: &str) {
        if let Self::Nats(servers) = self {
            wait_until(90, "all servers have the field", || servers.is_whole(field).then_some(()));
        }
    }

    /// The server that orders the appends to a Field.
    #[must_use]
    pub fn leader(&self, field: &str) -> Option<usize> {
        match self {
            Self::Postgres(_) => Some(0),
            Self::Nats(servers) => servers.leader(field),
        }
    }
}
