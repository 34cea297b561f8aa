//! PgBouncer in transaction mode before a server, from the system's packages, unpacked and not installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    child::ServerProcess,
    install::installed,
    port::free_port,
    servers::postgres_server::{PostgresServer, as_owner, url_at},
};

const READY: &str = "process up";

/// The folder with the unpacked packages.
fn unpacked() -> PathBuf {
    installed("pgbouncer", unpack).join("root")
}

fn unpack(dir: &Path) {
    let download = || {
        let mut apt = Command::new("apt-get");
        apt.args(["download", "pgbouncer", "libc-ares2"]).current_dir(dir);
        apt.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
    };
    if !download() {
        let update = Command::new("apt-get").arg("update").stdout(Stdio::null()).status();
        assert!(update.is_ok_and(|it| it.success()) && download(), "the packages are there");
    }
    for entry in fs::read_dir(dir).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_some_and(|ending| ending == "deb") {
            let done = Command::new("dpkg").arg("-x").arg(&path).arg(dir.join("root")).status();
            assert!(done.is_ok_and(|it| it.success()), "{}", path.display());
        }
    }
}

/// PgBouncer, and the server behind it.
#[derive(Debug)]
pub struct PgBouncer {
    _bouncer: ServerProcess,
    _server: PostgresServer,
    port: u16,
}

impl PgBouncer {
    /// Starts both.
    #[must_use]
    pub fn start() -> Self {
        let (server, port) = (PostgresServer::start(), free_port());
        let config = server.data().join("pgbouncer.ini");
        let text = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} user=quipu\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 4\n",
            server.port()
        );
        fs::write(&config, text).expect("the server's folder can be written");
        let (program, libraries) = copy_to(&server.data());
        let mut command = as_owner(&program);
        command.env("LD_LIBRARY_PATH", libraries).arg(config);
        let bouncer = ServerProcess::start(&mut command, READY);
        Self { _bouncer: bouncer, _server: server, port }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        url_at(self.port)
    }
}

/// Copies the program and its libraries beside the server's files, where the server's owner may run them.
fn copy_to(dir: &Path) -> (PathBuf, PathBuf) {
    let root = unpacked();
    let (program, libraries) = (dir.join("pgbouncer"), dir.join("libraries"));
    let copy = |from: &Path, to: &Path| {
        fs::copy(from, to).expect("the server's folder can be written");
    };
    copy(&root.join("usr/sbin/pgbouncer"), &program);
    fs::create_dir(&libraries).expect("the server's folder can be written");
    let mut find = Command::new("find");
    let found = find.arg(root.join("usr/lib")).args(["-name", "libcares*"]).output();
    let found = found.expect("find runs").stdout;
    for library in String::from_utf8_lossy(&found).lines().map(Path::new) {
        copy(library, &libraries.join(library.file_name().unwrap_or_default()));
    }
    (program, libraries)
}
