//! The servers that several nodes share, started for one benchmark and gone with it: PostgreSQL from the system's
//! packages, or three NATS servers. With their usual settings, but for what Quipu asks of them.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use crate::measure::failure::Failure;
use crate::measure::workplace::Workplace;

/// Servers that hold a log.
pub(crate) struct LogServers {
    // Before the folder, so that nothing writes into it any more when it goes.
    processes: Vec<Process>,
    pub(crate) url: String,
    folder: Workplace,
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl LogServers {
    /// One PostgreSQL, with its programs from this folder.
    pub(crate) fn postgres(programs: &Path, folder: Workplace) -> Result<Self, Failure> {
        let (data, port) = (folder.path().join("data"), free_port()?);
        fs::create_dir_all(folder.path()).map_err(|e| Failure::caused("no folder", &e))?;
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()))?;
        }
        let mut initdb = as_owner(&programs.join("initdb"));
        initdb.args(["-A", "trust", "-U", "quipu", "--locale=C", "-D"]).arg(&data);
        run(&mut initdb)?;
        let mut command = as_owner(&programs.join("postgres"));
        command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
        let socket = format!("unix_socket_directories={}", folder.path().display());
        for setting in ["listen_addresses=127.0.0.1", "max_connections=200", &socket] {
            command.args(["-c", setting]);
        }
        let process = start(&mut command, "ready to accept connections")?;
        let url = format!("postgres://quipu@127.0.0.1:{port}/postgres");
        Ok(Self { processes: vec![process], url, folder })
    }

    /// Three NATS servers as one cluster.
    pub(crate) fn nats(program: &Path, folder: Workplace) -> Result<Self, Failure> {
        fs::create_dir_all(folder.path()).map_err(|e| Failure::caused("no folder", &e))?;
        let ports: Vec<[u16; 3]> = (0..3)
            .map(|_| Ok([free_port()?, free_port()?, free_port()?]))
            .collect::<Result<_, Failure>>()?;
        let list = |at: usize, scheme: &str, ends: &str| {
            let one = |ports: &[u16; 3]| {
                format!("{ends}{scheme}127.0.0.1:{}{ends}", ports.get(at).unwrap_or(&0))
            };
            ports.iter().map(one).collect::<Vec<_>>().join(",")
        };
        let routes = list(2, "nats://", "\"");
        let mut processes = Vec::new();
        for (at, [client, monitor, cluster]) in ports.iter().enumerate() {
            let config = format!(
                "server_name: n{at}\nlisten: \"127.0.0.1:{client}\"\nhttp: \"127.0.0.1:{monitor}\"\n\
                 jetstream {{ store_dir: \"{}\", sync_interval: always }}\n\
                 cluster {{ name: bench, listen: \"127.0.0.1:{cluster}\", routes: [{routes}] }}\n",
                folder.path().join(format!("store-{at}")).display()
            );
            let file = folder.path().join(format!("{at}.conf"));
            fs::write(&file, config).map_err(|e| Failure::caused("cannot configure NATS", &e))?;
            let mut command = Command::new(program);
            processes.push(start(command.arg("-c").arg(file), "Server is ready")?);
        }
        let url = format!("nats://{}?monitor={}", list(0, "", ""), list(1, "http://", ""));
        Ok(Self { processes, url, folder })
    }

    /// A folder for whatever else the benchmark keeps.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The processor time that the servers have used, in seconds. Those that a server starts are its own business.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.processes.iter().map(|process| cpu_of_family(process.0.id())).sum()
    }
}

/// Where Debian and its kin keep the newest PostgreSQL.
pub(crate) fn postgres_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let newest = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).max();
    newest.filter(|dir| dir.join("initdb").exists())
}

/// The processor time of a process and of those that it started and that still run.
fn cpu_of_family(process: u32) -> f64 {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    let of_children: f64 =
        children.split_whitespace().map(crate::measure::child::cpu_seconds).sum();
    crate::measure::child::cpu_seconds(&process.to_string()) + of_children
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The database refuses to run as root, so root runs it as the user that the package made.
fn as_owner(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

fn free_port() -> Result<u16, Failure> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    Ok(bound.map_err(|error| Failure::caused("no port is free", &error))?.port())
}

/// Runs a program to its end, and gives what it said.
pub(crate) fn run(command: &mut Command) -> Result<String, Failure> {
    let told = command.stdin(Stdio::null()).output();
    let told = told.map_err(|error| Failure::caused(format!("cannot run {command:?}"), &error))?;
    if told.status.success() {
        return Ok(String::from_utf8_lossy(&told.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    Err(Failure::new(format!("{command:?} failed: {said}")))
}

/// Starts a server and waits until its log says that it is ready.
fn start(command: &mut Command, ready: &str) -> Result<Process, Failure> {
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child =
        started.map_err(|error| Failure::caused(format!("cannot start {command:?}"), &error))?;
    let log = child.stderr.take();
    let process = Process(child);
    let mut lines =
        log.into_iter().flat_map(|log| BufReader::new(log).lines()).map_while(Result::ok);
    if !lines.any(|line| line.contains(ready)) {
        return Err(Failure::new(format!("{command:?} ended before it was ready")));
    }
    // Read to the end, so that the server never waits for somebody to read its log.
    thread::Builder::new()
        .spawn(move || lines.for_each(drop))
        .map_err(|error| Failure::caused("no thread", &error))?;
    Ok(process)
}
