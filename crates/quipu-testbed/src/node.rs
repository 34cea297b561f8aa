//! A node: `quipu serve` as a process, with a data directory and an address that it keeps over restarts.

use std::{
    env,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::{
    child::{Ended, ServerProcess},
    port::free_port,
};

/// The line that it prints when it accepts requests.
const READY: &str = "quipu listens on";

/// How a node is started.
#[derive(Debug, Clone)]
pub struct NodeOptions {
    /// The `quipu` binary.
    pub program: PathBuf,
    /// The value of `--log`.
    pub log: String,
    /// Other arguments of `serve`.
    pub arguments: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
}

impl NodeOptions {
    /// A node without keys, which listens on the loopback interface alone.
    #[must_use]
    pub fn dev(program: &Path, log: &str) -> Self {
        Self {
            program: program.to_owned(),
            log: log.to_owned(),
            arguments: vec!["--dev".to_owned()],
            environment: Vec::new(),
        }
    }
}

/// A node. Its data is removed when it is dropped.
#[derive(Debug)]
pub struct Node {
    options: NodeOptions,
    port: u16,
    data: TempDir,
    process: Option<ServerProcess>,
}

impl Node {
    /// A node that does not run yet.
    #[must_use]
    pub fn new(options: NodeOptions) -> Self {
        let data = tempfile::tempdir().expect("there is room for files");
        Self { options, port: free_port(), data, process: None }
    }

    /// Starts it, over its old data if it ran before. Returns how it ended if it does not start.
    pub fn try_run(&mut self) -> Result<(), Ended> {
        self.process = None;
        let mut command = Command::new(&self.options.program);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("QUIPU_") {
                command.env_remove(name);
            }
        }
        command.arg("serve").arg("--data").arg(self.data.path());
        command.args(["--listen", &self.address().to_string(), "--log", &self.options.log]);
        command.args(&self.options.arguments).envs(self.options.environment.iter().cloned());
        self.process = Some(ServerProcess::try_start(&mut command, READY)?);
        Ok(())
    }

    /// Starts it; it must come up.
    pub fn run(&mut self) {
        self.try_run().unwrap_or_else(|ended| panic!("a node did not come up:\n{}", ended.said));
    }

    /// Kills it without a warning.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Asks it to stop, as an operator would, and waits until it has; none if it did not run.
    pub fn stop(&mut self) -> Option<Ended> {
        self.process.take().map(ServerProcess::stop)
    }

    /// Sends it a signal, such as `STOP` and `CONT`.
    pub fn signal(&self, name: &str) {
        if let Some(process) = &self.process {
            process.signal(name);
        }
    }

    /// Its output since it was started.
    #[must_use]
    pub fn said(&self) -> String {
        self.process.as_ref().map(ServerProcess::said).unwrap_or_default()
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Its base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Its data directory.
    #[must_use]
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// The options for its next start.
    pub const fn options_mut(&mut self) -> &mut NodeOptions {
        &mut self.options
    }
}
