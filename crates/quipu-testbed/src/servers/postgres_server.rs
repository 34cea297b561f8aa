//! A PostgreSQL server of its own for each test, from the system's packages.

use std::{
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use tempfile::TempDir;

use crate::{SmallDisk, child::ServerProcess, port::free_port};

const READY: &str = "database system is ready to accept connections";
/// The number of attempts to start, and the pause in between.
const STARTS: usize = 40;
const PAUSE: Duration = Duration::from_millis(250);

/// A server on a port of its own. Its files are removed when it is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    process: Option<ServerProcess>,
    disk: Option<SmallDisk>,
    dir: TempDir,
    port: u16,
}

/// The folder of the server's programs. Installs them if they are missing.
fn programs() -> PathBuf {
    let find = || {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
        let newest = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).max();
        newest.filter(|dir| dir.join("initdb").exists())
    };
    find().unwrap_or_else(|| {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "-y", "--no-install-recommends", "postgresql"]);
        let installed = apt.stdout(Stdio::null()).status().expect("apt-get runs");
        assert!(installed.success(), "PostgreSQL can be installed");
        find().expect("PostgreSQL is installed")
    })
}

/// One of the server's programs, such as `pgbench`.
#[must_use]
pub fn postgres_program(name: &str) -> PathBuf {
    programs().join(name)
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for files")
}

fn number_of(what: &str, user: &str) -> u32 {
    let told = Command::new("id").args([what, user]).output().expect("id runs");
    String::from_utf8_lossy(&told.stdout).trim().parse().expect("the user exists")
}

/// The server refuses to run as root, so root runs it as the user that the package made.
pub(crate) fn as_owner(program: &Path) -> Command {
    if number_of("-u", &whoami()) != 0 {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

fn whoami() -> String {
    let told = Command::new("id").arg("-un").output().expect("id runs");
    String::from_utf8_lossy(&told.stdout).trim().to_owned()
}

impl PostgresServer {
    /// Starts a new server.
    #[must_use]
    pub fn start() -> Self {
        Self::with_settings(&[])
    }

    /// Starts a new server with settings other than ours.
    #[must_use]
    pub fn with_settings(settings: &[&str]) -> Self {
        Self::in_folder(folder(), None, settings)
    }

    /// Starts a new server with its files below a folder, and with settings other than ours.
    #[must_use]
    pub fn start_in(folder: &Path, settings: &[&str]) -> Self {
        let dir = TempDir::new_in(folder).expect("there is room for files");
        Self::in_folder(dir, None, settings)
    }

    /// Starts a new server on a disk of its own that can be filled; none where that cannot be had.
    #[must_use]
    pub fn on_small_disk(megabytes: usize) -> Option<Self> {
        let dir = folder();
        let disk = SmallDisk::mount(dir.path(), megabytes)?;
        Some(Self::in_folder(dir, Some(disk), &[]))
    }

    fn in_folder(dir: TempDir, disk: Option<SmallDisk>, settings: &[&str]) -> Self {
        programs();
        if whoami() == "root" {
            chown(dir.path(), Some(number_of("-u", "postgres")), Some(number_of("-g", "postgres")))
                .expect("root may give files away");
        }
        let made = as_owner(&postgres_program("initdb"))
            .args(["-A", "trust", "-U", "quipu", "--no-sync", "--locale=C", "-D"])
            .arg(dir.path().join("data"))
            .stdout(Stdio::null())
            .status();
        assert!(made.is_ok_and(|it| it.success()), "initdb makes a cluster");
        let mut server = Self { process: None, disk, dir, port: free_port() };
        server.run(settings);
        server
    }

    /// The small disk that it is on.
    #[must_use]
    pub const fn disk(&self) -> Option<&SmallDisk> {
        self.disk.as_ref()
    }

    /// Starts the server again over the same files.
    pub fn run(&mut self, settings: &[&str]) {
        self.process = None;
        let mut command = as_owner(&postgres_program("postgres"));
        command.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        let socket = format!("unix_socket_directories={}", self.dir.path().display());
        let small = ["listen_addresses=127.0.0.1", "shared_buffers=16MB", "log_checkpoints=off"];
        for setting in small.iter().chain(settings).chain([&socket.as_str()]) {
            command.args(["-c", setting]);
        }
        // After a kill its child processes may hold its shared memory for a moment.
        let mut started = ServerProcess::try_start(&mut command, READY);
        for _ in 1..STARTS {
            if started.is_ok() {
                break;
            }
            thread::park_timeout(PAUSE);
            started = ServerProcess::try_start(&mut command, READY);
        }
        let process =
            started.unwrap_or_else(|ended| panic!("the server did not come up:\n{}", ended.said));
        self.process = Some(process);
    }

    /// Kills the server and its child processes without a warning.
    pub fn kill(&mut self) {
        if let Some(process) = &mut self.process {
            // Its child processes end when the first process is gone.
            process.kill();
        }
    }

    /// The number of its first process; none while it does not run.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(ServerProcess::id)
    }

    /// Where its files are.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Its port on the loopback interface.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        url_at(self.port)
    }

    /// Runs SQL as an operator would.
    pub fn sql(&self, sql: &str) -> String {
        let told = Command::new(postgres_program("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql])
            .arg(self.url())
            .output()
            .expect("psql runs");
        assert!(told.status.success(), "{sql}: {}", String::from_utf8_lossy(&told.stderr));
        String::from_utf8_lossy(&told.stdout).trim().to_owned()
    }
}

/// The address of the database `postgres` at a port of the loopback interface.
#[must_use]
pub fn url_at(port: u16) -> String {
    format!("postgres://quipu@127.0.0.1:{port}/postgres")
}

/// The files below a folder that have a text in them.
#[must_use]
pub fn is_in_files(dir: &Path, text: &str) -> Vec<PathBuf> {
    let found = Command::new("grep").args(["-rlaF", text]).arg(dir).output().expect("grep runs");
    String::from_utf8_lossy(&found.stdout).lines().map(PathBuf::from).collect()
}
