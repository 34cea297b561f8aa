//! PgBouncer in transaction mode before a server, from the system's packages, unpacked and not installed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use quipu_engines::PostgresEngine;
use quipu_log::Engine;
use quipu_log::conformance::EngineFactory;

use super::child::{ServerProcess, free_port};
use super::postgres_server::{PostgresServer, as_owner, url_at};

const READY: &str = "process up";

/// The folder with the unpacked packages.
fn unpacked() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pgbouncer");
    fs::create_dir_all(&dir).unwrap();
    let lock = File::create(dir.join("lock")).unwrap();
    lock.lock().unwrap();
    let root = dir.join("root");
    if !root.join("done").exists() {
        let download = || {
            let mut apt = Command::new("apt-get");
            apt.args(["download", "pgbouncer", "libc-ares2"]).current_dir(&dir);
            apt.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
        };
        if !download() {
            let update = Command::new("apt-get").arg("update").stdout(Stdio::null()).status();
            assert!(update.is_ok_and(|it| it.success()) && download(), "the packages are there");
        }
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "deb") {
                let done = Command::new("dpkg").arg("-x").arg(&path).arg(&root).status();
                assert!(done.unwrap().success(), "{}", path.display());
            }
        }
        fs::write(root.join("done"), "").unwrap();
    }
    root
}

/// Opens engines over a server behind PgBouncer.
#[derive(Debug)]
pub(crate) struct PgBouncerFactory {
    _bouncer: ServerProcess,
    _server: PostgresServer,
    port: u16,
}

impl Default for PgBouncerFactory {
    fn default() -> Self {
        let (server, port, root) = (PostgresServer::start(), free_port(), unpacked());
        let config = server.data().join("pgbouncer.ini");
        let text = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} user=quipu\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 4\n",
            server.port()
        );
        fs::write(&config, text).unwrap();
        // Beside the server's own files, where its owner may run it.
        let program = server.data().join("pgbouncer");
        fs::copy(root.join("usr/sbin/pgbouncer"), &program).unwrap();
        let libraries = server.data().join("libraries");
        fs::create_dir(&libraries).unwrap();
        let mut find = Command::new("find");
        let found = find.arg(root.join("usr/lib")).args(["-name", "libcares*"]).output().unwrap();
        for library in String::from_utf8(found.stdout).unwrap().lines() {
            let name = Path::new(library).file_name().unwrap();
            fs::copy(library, libraries.join(name)).unwrap();
        }
        let mut command = as_owner(&program);
        command.env("LD_LIBRARY_PATH", libraries).arg(config);
        let bouncer = ServerProcess::start(&mut command, READY);
        Self { _bouncer: bouncer, _server: server, port }
    }
}

impl EngineFactory for PgBouncerFactory {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(PostgresEngine::open(&url_at(self.port)).expect("the server is fit"))
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        true
    }
}
