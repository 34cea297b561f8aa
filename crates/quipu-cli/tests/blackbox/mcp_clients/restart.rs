//! The server is killed and comes back under a client that goes on: what was answered is there, once.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::{
    installed::{python, scripts},
    ways::QUIPU,
};
use crate::support::{Settings, verify_is_green};

/// The arguments of a way to the server at an address.
type Way = fn(&str) -> Vec<String>;

fn stdio(url: &str) -> Vec<String> {
    [QUIPU, "mcp", "--url", url].map(str::to_owned).to_vec()
}

fn http(url: &str) -> Vec<String> {
    vec!["--url".to_owned(), format!("{url}/mcp")]
}

/// The script says `ready`, the server is killed, the script is told `down`, the server comes back.
fn crash_under(generation: &str, way: Way) {
    let directory = TempDir::new().unwrap();
    let data = directory.path().join("data");
    let server = Settings::dev(&data).start();
    let address = server.address.to_string();
    let mut script = Command::new(python());
    script.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(directory.path());
    script.arg(scripts().join("python/restart.py")).arg(generation);
    script.args(way(&format!("http://{address}")));
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().unwrap();
    let mut said = BufReader::new(script.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "ready");
    server.kill();
    let mut told = script.stdin.take().unwrap();
    told.write_all(b"down\n").unwrap();
    let server = Settings::dev(&data).argument("--listen").argument(&address).start();
    told.write_all(b"up\n").unwrap();
    line.clear();
    said.read_to_string(&mut line).unwrap();
    assert!(script.wait().unwrap().success() && line.contains("all checks hold"), "{line}");
    server.stop();
    verify_is_green(&data);
}

#[test]
fn crash_under_the_standard_streams_with_sessions() {
    crash_under("2025-11-25", stdio);
}

#[test]
fn crash_under_the_standard_streams_without_sessions() {
    crash_under("2026-07-28", stdio);
}

#[test]
fn crash_under_http_with_sessions() {
    crash_under("2025-11-25", http);
}

#[test]
fn crash_under_http_without_sessions() {
    crash_under("2026-07-28", http);
}
