//! Starts the server as a process of its own, so that it is measured as users run it, and so that its
//! memory can be told from the load generator's.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::measure::failure::Failure;

/// A running server; killed when dropped.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl ServerProcess {
    /// Starts `quipu serve --dev` on a free port.
    pub(crate) fn start(data: &Path) -> Result<Self, Failure> {
        Self::start_with(data, &[])
    }

    /// The same with further options.
    pub(crate) fn start_with(data: &Path, options: &[&str]) -> Result<Self, Failure> {
        Self::start_program(&server_program()?, data, options)
    }

    /// The same with another build of it.
    pub(crate) fn start_program(
        program: &Path,
        data: &Path,
        options: &[&str],
    ) -> Result<Self, Failure> {
        let failed =
            |error| Failure::caused(format!("cannot start a server on {}", data.display()), &error);
        let mut child = Command::new(program)
            .args(["serve", "--dev", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(failed)?;
        let output = child.stdout.take().map(BufReader::new);
        let address = output
            .into_iter()
            .flat_map(BufRead::lines)
            .map_while(Result::ok)
            .find_map(|line| address_in(&line))
            .ok_or_else(|| failed(std::io::Error::other("it did not say where it listens")))?;
        Ok(Self { child, address })
    }

    /// The server's resident memory in bytes.
    pub(crate) fn resident_bytes(&self) -> f64 {
        resident_bytes(&self.child.id().to_string())
    }

    /// How many things the system lists of the server: `task` for its threads, `fd` for its open files.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(crate) fn count(&self, what: &str) -> f64 {
        let listed = std::fs::read_dir(format!("/proc/{}/{what}", self.child.id()));
        listed.map_or(f64::NAN, |listed| listed.count() as f64)
    }

    /// The processor time that the server has used, in seconds.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        cpu_seconds(&self.child.id().to_string())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let start = line.find("http://")?;
    let text: String = line
        .get(start + 7..)?
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || ".:".contains(*letter))
        .collect();
    text.parse().ok()
}

/// The `quipu` that was built beside this program: what users run is what is measured.
fn server_program() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe();
    let own =
        own.map_err(|error| Failure::caused("cannot find this program's own file", &error))?;
    let server = own.with_file_name(format!("quipu{}", std::env::consts::EXE_SUFFIX));
    if server.is_file() {
        return Ok(server);
    }
    Err(Failure::new(format!("there is no server at {}", server.display()))
        .advise("build it with the same profile: cargo build --release"))
}

/// The processor time that a process has used, in seconds; `self` for this one.
pub(crate) fn cpu_seconds(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // After the name in brackets: state is the first field, user and system time the 12th and 13th.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// The resident memory of a process, `self` for this one.
#[expect(clippy::cast_precision_loss, reason = "bytes for people")]
pub(crate) fn resident_bytes(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| (kilobytes * 1024) as f64)
}
