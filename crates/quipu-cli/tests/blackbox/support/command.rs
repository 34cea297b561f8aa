//! Runs the binary to its end.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

/// What a command did.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Everything it said.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.said());
        self
    }

    /// Checks that it failed with a sentence, not with a crash.
    #[track_caller]
    pub(crate) fn failed(self) -> Self {
        assert_eq!(self.code, Some(1), "{}", self.said());
        assert!(!self.stderr.trim().is_empty(), "failed without a word");
        for ugly in ["panicked", "RUST_BACKTRACE", "Error {", "Damaged(", "Io {"] {
            assert!(!self.stderr.contains(ugly), "{}", self.stderr);
        }
        self
    }
}

/// The binary, with nothing of the caller's own settings.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("QUIPU_") {
            command.env_remove(name);
        }
    }
    command.current_dir(std::env::temp_dir()).stdin(Stdio::null());
    command
}

/// Runs `quipu` with these arguments.
pub(crate) fn quipu<I: IntoIterator<Item: AsRef<OsStr>>>(arguments: I) -> Finished {
    let output = binary().args(arguments).output().unwrap();
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs `quipu verify` on a data directory, expects it to find nothing, and gives what it says of
/// the default field: `commits`, `units`, `head`, `state`.
#[track_caller]
pub(crate) fn verify_is_green(data: &Path) -> Value {
    let arguments = [OsStr::new("verify"), OsStr::new("--json"), OsStr::new("--data")];
    let verified = quipu(arguments.into_iter().chain([data.as_os_str()])).succeeded();
    let report: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(report["ok"], true, "{report}");
    let fields = report["fields"].as_array().unwrap();
    let found = fields.iter().find(|field| field["field"] == "default");
    found.unwrap_or_else(|| panic!("no default field in {report}")).clone()
}
