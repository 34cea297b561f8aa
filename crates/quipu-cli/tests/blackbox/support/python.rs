//! Python code of this checkout: installed into a virtual environment beside the build, and held to its own rules.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A folder with Python code, its manifest, and the environment that it is checked in.
pub(crate) struct Python {
    pub(crate) sources: PathBuf,
    home: PathBuf,
}

/// Fails with everything that the command said.
pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}\n{errors}");
}

impl Python {
    /// The code in a folder of the checkout. The environment has what `install` asks for, and is made anew when the
    /// manifest changed.
    pub(crate) fn of(folder: &str, install: impl Fn(&Path) -> Vec<String>) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder.replace('/', "-"));
        let python = Self { sources: root.join(folder), home };
        let manifest = fs::read_to_string(python.sources.join("pyproject.toml")).unwrap();
        let stamp = python.home.join("installed.toml");
        if fs::read_to_string(&stamp).ok().as_ref() != Some(&manifest) {
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&python.home));
            run(python.pip().arg("install").args(install(&python.sources)));
            fs::write(stamp, manifest).unwrap();
        }
        python
    }

    pub(crate) fn pip(&self) -> Command {
        let mut command = self.tool("pip");
        command.args(["--quiet", "--disable-pip-version-check"]);
        command
    }

    fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(self.home.join("bin").join(name));
        command.current_dir(&self.sources).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Fails unless it is tidy and typed and passes its tests against the binary.
    pub(crate) fn check(&self) {
        run(self.tool("ruff").args(["check", "--no-cache"]));
        run(self.tool("ruff").args(["format", "--check", "--no-cache"]));
        run(self.tool("mypy").arg("--cache-dir").arg(self.home.join("mypy")));
        run(self
            .tool("pytest")
            .args(["-q", "-p", "no:cacheprovider"])
            .env("QUIPU_BIN", env!("CARGO_BIN_EXE_quipu"))
            .env_remove("QUIPU_URL")
            .env_remove("QUIPU_KEY")
            .env_remove("QUIPU_FIELD"));
    }
}
