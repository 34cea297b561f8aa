//! A wrong clock: a library from the system's packages that is loaded into a program and changes the time it sees.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::install::installed;

/// The path of the library, which is unpacked but not installed.
fn library() -> PathBuf {
    let dir = installed("faketime", |dir| {
        let download = || {
            let mut apt = Command::new("apt-get");
            apt.args(["download", "libfaketime"]).current_dir(dir);
            apt.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
        };
        if !download() {
            let update = Command::new("apt-get").arg("update").stdout(Stdio::null()).status();
            assert!(update.is_ok_and(|it| it.success()) && download(), "the package is there");
        }
        let unpack = "dpkg -x libfaketime*.deb . && mv $(find . -name libfaketime.so.1) .";
        let done = Command::new("sh").args(["-c", unpack]).current_dir(dir).status();
        assert!(done.is_ok_and(|it| it.success()), "the package can be unpacked");
    });
    dir.join("libfaketime.so.1")
}

/// The environment for a program whose time of day is shifted by the offset in a file, such as `+2h` or `-30`.
/// Measured durations stay right. The program reads the file again and again.
#[must_use]
pub fn environment(file: &Path) -> Vec<(String, String)> {
    let pairs = [
        ("LD_PRELOAD", library().display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("FAKETIME_NO_CACHE", "1".to_owned()),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Sets the offset in the file.
pub fn set(file: &Path, offset: &str) {
    fs::write(file, format!("{offset}\n")).expect("the file can be written");
}
