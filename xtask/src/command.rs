//! One external command: how it is run, and how it is shown so that a person can type it again.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A `cargo` call with the environment it needs.
#[derive(Clone, Debug)]
pub(crate) struct Cargo {
    arguments: Vec<&'static str>,
    environment: Vec<(&'static str, &'static str)>,
}

impl Cargo {
    pub(crate) fn new(arguments: &[&'static str]) -> Self {
        Self { arguments: arguments.to_vec(), environment: Vec::new() }
    }

    pub(crate) fn with_env(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    /// Runs it in `root` with our own output streams; says why where it did not succeed.
    pub(crate) fn run(&self, root: &Path) -> Result<(), String> {
        succeed(&mut self.prepared(root))
    }

    /// Whether it exits with success, in silence. Used to ask if a cargo subcommand is installed.
    pub(crate) fn succeeds_quietly(&self, root: &Path) -> bool {
        let status = self.prepared(root).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    fn prepared(&self, root: &Path) -> Command {
        let mut command = Command::new("cargo");
        command.args(&self.arguments).envs(self.environment.iter().copied()).current_dir(root);
        // What cargo tells this program about itself would be taken for news: some packages build anew when it changes.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&*name);
            }
        }
        command
    }
}

/// Runs any command with our own output streams; says why where it did not succeed.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("could not be started: {error}")),
    }
}

impl fmt::Display for Cargo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.environment {
            if value.contains(' ') {
                write!(f, "{name}='{value}' ")?;
            } else {
                write!(f, "{name}={value} ")?;
            }
        }
        write!(f, "cargo {}", self.arguments.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_shown_as_a_line_that_a_shell_accepts() {
        let doc = Cargo::new(&["doc", "--no-deps"])
            .with_env("CI", "true")
            .with_env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(doc.to_string(), "CI=true RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }

    #[test]
    fn reports_a_command_that_fails() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let unknown = Cargo::new(&["no-such-subcommand"]);
        assert!(!unknown.succeeds_quietly(root));
        assert!(Cargo::new(&["--version"]).succeeds_quietly(root));
    }
}
