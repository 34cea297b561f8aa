//! The OpenAPI document against the server that serves it, by somebody else's tool: schemathesis makes up
//! requests from the document, good ones and bad ones, and holds every answer against it. No request may be
//! answered with a failure of ours, or in a shape that the document does not have.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::Settings;

const VERSION: &str = "4.32.5";
/// What never ends by itself is left to tests of its own.
const STREAMS: &str = "stream$|/ws$|subscriptions/.*/events$";

/// The tool, installed once beside the build.
fn schemathesis() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("schemathesis-{VERSION}"));
    let tool = home.join("bin/schemathesis");
    if !tool.exists() {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home));
        let package = format!("schemathesis=={VERSION}");
        let mut pip = Command::new(home.join("bin/pip"));
        run(pip.args(["install", "--quiet", "--disable-pip-version-check", &package]));
    }
    tool
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}\n{errors}");
    said
}

#[test]
fn no_crash_and_no_shape_that_the_document_does_not_have() {
    let tool = schemathesis();
    let data = tempfile::tempdir().unwrap();
    let server = Settings::dev(data.path()).start();
    let url = format!("http://{}", server.address);
    let said = run(Command::new(tool)
        .current_dir(data.path())
        .args(["run", &format!("{url}/openapi.json"), "--url", &url])
        .args(["-H", "Harn-Agents-Protocol-Version: agents-protocol-2026-04-25"])
        .args(["--exclude-path-regex", STREAMS, "--no-color", "--workers", "2"])
        .args(["--checks", "not_a_server_error,response_schema_conformance"])
        .args(["--max-examples", "5", "--seed", "7", "--request-timeout", "20"]));
    assert!(said.contains("passed"), "{said}");
}
