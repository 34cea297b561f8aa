//! The clients, installed once beside the build, in the versions that are named here.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

/// It speaks both generations.
const PYTHON: [&str; 1] = ["mcp==2.3.0"];
/// The first speaks 2025-11-25, the second 2026-07-28. Of the conformance package, too, the released version
/// knows the older generation alone. What Node runs them is named as well: they need a newer one than many
/// machines have.
const NODE: [&str; 6] = [
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.1.16",
    "conformance-next@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "ajv@8.20.0",
];
const NODE_VERSION: &str = "24.21.0";

/// Where the scripts are that drive the clients.
pub(super) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp")
}

/// The interpreter that has the Python client.
pub(super) fn python() -> PathBuf {
    let home = once("mcp-python", &PYTHON, |home| {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(home));
        let mut pip = Command::new(home.join("bin/pip"));
        run(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PYTHON));
    });
    home.join("bin/python")
}

/// Node with its packages.
#[derive(Debug)]
pub(super) struct Node {
    home: PathBuf,
}

impl Node {
    pub(super) fn installed() -> Self {
        let runtime = runtime();
        let mut packages = NODE.map(str::to_owned).to_vec();
        packages.extend(runtime.as_ref().map(|name| format!("{name}@{NODE_VERSION}")));
        let home = once("mcp-node", &packages, |home| {
            fs::create_dir_all(home).unwrap();
            fs::write(home.join("package.json"), r#"{"private": true}"#).unwrap();
            let mut npm = Command::new("npm");
            npm.args([
                "install",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ]);
            run(npm.args(&packages).current_dir(home));
        });
        Self { home }
    }

    /// A package's file.
    pub(super) fn file(&self, path: &str) -> PathBuf {
        self.home.join("node_modules").join(path)
    }

    /// A command that runs a script of ours, from a directory in which it finds the packages.
    pub(super) fn script(&self, name: &str, directory: &Path) -> Command {
        for entry in fs::read_dir(scripts().join("node")).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), directory.join(entry.file_name())).unwrap();
        }
        let packages = directory.join("node_modules");
        if !packages.exists() {
            std::os::unix::fs::symlink(self.home.join("node_modules"), packages).unwrap();
        }
        self.command(&directory.join(name))
    }

    /// A command that runs a package's program.
    pub(super) fn command(&self, program: &Path) -> Command {
        let runtime = runtime().map(|name| self.file(&name).join("bin/node"));
        let mut command = Command::new(runtime.unwrap_or_else(|| "node".into()));
        command.arg(program);
        command
    }
}

/// The package that has Node itself, where there is one for this machine.
fn runtime() -> Option<String> {
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    cfg!(target_os = "linux").then(|| format!("node-linux-{processor}"))
}

/// A directory that `install` fills once for this list of packages, whichever test comes first.
fn once(name: &str, packages: &[impl AsRef<str>], install: impl FnOnce(&Path)) -> PathBuf {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (home, done) = (base.join(name), base.join(format!("{name}.installed")));
    let wanted: Vec<&str> = packages.iter().map(AsRef::as_ref).collect();
    let wanted = wanted.join("\n");
    let lock = File::create(base.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if fs::read_to_string(&done).ok().as_deref() != Some(wanted.as_str()) {
        fs::remove_dir_all(&home).ok();
        install(&home);
        fs::write(done, wanted).unwrap();
    }
    home
}

/// Runs a command that must succeed, and gives what it said.
#[track_caller]
pub(super) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}\n{errors}");
    said
}
