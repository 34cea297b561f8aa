//! The Python SDK of `sdk/python`: installed from this checkout into a virtual environment, checked by mypy and
//! ruff, and tested by its own tests against the binary. What the tests look at is theirs to say.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const EXTRAS: &str = "test";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/python").canonicalize().unwrap()
}

/// Fails with everything that the command said.
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}\n{errors}");
}

/// A virtual environment with the packages that the manifest pins, made anew when the manifest changed.
fn environment() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-sdk");
    let manifest = fs::read_to_string(sources().join("pyproject.toml")).unwrap();
    let stamp = home.join("installed.toml");
    if fs::read_to_string(&stamp).ok().as_ref() != Some(&manifest) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home));
        let package = format!("{}[{EXTRAS}]", sources().display());
        run(pip(&home).args(["install", &package]));
        fs::write(stamp, manifest).unwrap();
    }
    home
}

fn pip(home: &Path) -> Command {
    let mut command = Command::new(home.join("bin/pip"));
    command.args(["--quiet", "--disable-pip-version-check"]);
    command
}

#[test]
fn the_package_of_this_checkout_is_typed_tidy_and_passes_its_tests() {
    let home = environment();
    let mut install = pip(&home);
    install.args(["install", "--no-deps", "--no-build-isolation", "--force-reinstall"]);
    run(install.arg(sources()));
    let tool = |name: &str| {
        let mut command = Command::new(home.join("bin").join(name));
        command.current_dir(sources()).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    run(tool("ruff").args(["check", "--no-cache"]));
    run(tool("ruff").args(["format", "--check", "--no-cache"]));
    run(tool("mypy").arg("--cache-dir").arg(home.join("mypy")));
    run(tool("pytest")
        .args(["-q", "-p", "no:cacheprovider"])
        .env("QUIPU_BIN", env!("CARGO_BIN_EXE_quipu"))
        .env_remove("QUIPU_URL")
        .env_remove("QUIPU_KEY")
        .env_remove("QUIPU_FIELD"));
}
