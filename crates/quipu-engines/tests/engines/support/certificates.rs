//! Certificates for a server on the loopback interface, made for one test.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// A certificate, its key, and the authority that signed it.
#[derive(Debug)]
pub(crate) struct Certificates {
    dir: TempDir,
}

impl Certificates {
    pub(crate) fn make() -> Self {
        let made = Self { dir: tempfile::tempdir().unwrap() };
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
        let authority = ["-x509", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"];
        made.openssl(&[&["req"], &curve[..], &authority].concat());
        let request = ["-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr"];
        made.openssl(&[&["req"], &curve[..], &request].concat());
        fs::write(made.file("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
        let sign = ["-CA", "ca.pem", "-CAkey", "ca.key", "-extfile", "names", "-out", "server.pem"];
        made.openssl(&[&["x509", "-req", "-in", "server.csr"], &sign[..]].concat());
        made
    }

    fn openssl(&self, arguments: &[&str]) {
        let mut command = Command::new("openssl");
        let done = command.args(arguments).current_dir(self.dir.path()).output().unwrap();
        assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn authority(&self) -> PathBuf {
        self.file("ca.pem")
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.file("server.pem")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.file("server.key")
    }

    /// Puts certificate and key where only a server's own user reads them.
    pub(crate) fn copy_to(&self, dir: &Path) {
        let owner = fs::metadata(dir).unwrap();
        for name in ["server.pem", "server.key"] {
            let copy = dir.join(name);
            fs::copy(self.file(name), &copy).unwrap();
            let (user, group) = {
                use std::os::unix::fs::MetadataExt as _;
                (owner.uid(), owner.gid())
            };
            std::os::unix::fs::chown(&copy, Some(user), Some(group)).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            fs::set_permissions(&copy, mode).unwrap();
        }
    }
}
