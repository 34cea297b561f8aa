//! The ways by which a client reaches a Field: `quipu mcp` with the Field inside, `quipu mcp` before a server,
//! and `/mcp`.

use std::path::Path;

use tempfile::TempDir;

use crate::{keys::start_with_key, support::Server};

/// One way, and what it needs for as long as it is used.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) arguments: Vec<String>,
    pub(super) directory: TempDir,
    server: Option<Server>,
}

/// The name of the binary under test.
pub(super) const QUIPU: &str = env!("CARGO_BIN_EXE_quipu");

impl Way {
    /// `quipu mcp --data`.
    pub(super) fn embedded() -> Self {
        let directory = TempDir::new().unwrap();
        let data = directory.path().join("data");
        Self {
            arguments: strings(&[QUIPU, "mcp", "--data", text(&data), "--authority", "10"]),
            directory,
            server: None,
        }
    }

    /// `quipu mcp --url`, before a server that asks for keys.
    pub(super) fn remote() -> Self {
        let (directory, server, key) = server();
        let url = format!("http://{}", server.address);
        let arguments = strings(&[QUIPU, "mcp", "--url", &url, "--key", &key]);
        Self { arguments, directory, server: Some(server) }
    }

    /// `/mcp` of a server that asks for keys; the key comes after `flag`, if there is one.
    pub(super) fn http(flag: Option<&str>) -> Self {
        let (directory, server, key) = server();
        let url = format!("http://{}/mcp", server.address);
        let mut arguments = strings(&["--url", &url]);
        arguments.extend(flag.map(str::to_owned));
        arguments.push(key);
        Self { arguments, directory, server: Some(server) }
    }

    /// Ends what it needs, and looks whether the server did well.
    pub(super) fn finish(self) {
        if let Some(server) = self.server {
            let said = server.stop().said();
            assert!(!said.contains("panicked"), "{said}");
        }
    }
}

fn server() -> (TempDir, Server, String) {
    let directory = TempDir::new().unwrap();
    let (server, key) = start_with_key(&directory.path().join("data"));
    (directory, server, key)
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
