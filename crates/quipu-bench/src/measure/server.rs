//! The server as a process of its own, so that it is measured as users run it, and so that its memory and processor
//! time can be told from the load generator's.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use quipu_testbed::{ServerProcess, free_port};

use crate::measure::{failure::Failure, program::quipu};

/// A running `quipu serve --dev`; killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: ServerProcess,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts it with its log in this folder.
    pub(crate) fn start(data: &Path) -> Result<Self, Failure> {
        Self::start_with(data, &[])
    }

    /// The same with further options.
    pub(crate) fn start_with(data: &Path, options: &[&str]) -> Result<Self, Failure> {
        Self::start_program(&quipu()?, data, options)
    }

    /// The same with another build of it.
    pub(crate) fn start_program(
        program: &Path,
        data: &Path,
        options: &[&str],
    ) -> Result<Self, Failure> {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let mut command = Command::new(program);
        command.args(["serve", "--dev", "--listen", &address.to_string(), "--data"]);
        command.arg(data).args(options);
        let process = ServerProcess::try_start(&mut command, "quipu listens on");
        let process = process.map_err(|ended| {
            Failure::new(format!("no server came up on {}:\n{}", data.display(), ended.said))
        })?;
        Ok(Self { process, address })
    }

    /// The server's resident memory in bytes.
    pub(crate) fn resident_bytes(&self) -> f64 {
        resident_bytes(&self.process.id().to_string())
    }

    /// How many things the system lists of the server: `task` for its threads, `fd` for its open files.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(crate) fn count(&self, what: &str) -> f64 {
        let listed = fs::read_dir(format!("/proc/{}/{what}", self.process.id()));
        listed.map_or(f64::NAN, |listed| listed.count() as f64)
    }

    /// The processor time that the server has used, in seconds.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        cpu_seconds(&self.process.id().to_string())
    }
}

/// The processor time that a process has used, in seconds; `self` for this one.
pub(crate) fn cpu_seconds(process: &str) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // After the name in brackets: state is the first field, user and system time the 12th and 13th.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// The processor time of a process and of those that it started and that still run.
pub(crate) fn cpu_of_family(process: u32) -> f64 {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    cpu_seconds(&process.to_string()) + children.split_whitespace().map(cpu_seconds).sum::<f64>()
}

/// The resident memory of a process, `self` for this one.
#[expect(clippy::cast_precision_loss, reason = "bytes for people")]
pub(crate) fn resident_bytes(process: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| (kilobytes * 1024) as f64)
}
