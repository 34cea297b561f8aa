//! A clock that is wrong: a library of the system's packages that is loaded before a program and tells it another time.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::place::installed;

/// The library; unpacked and not installed.
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

/// What a program's environment says so that its clock is off by what a file says: `+2h`, `-30`. Only the time of day;
/// what it measures itself is right. It looks into the file again and again.
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

/// Sets the clock of whoever looks into the file.
pub fn set(file: &Path, offset: &str) {
    fs::write(file, format!("{offset}\n")).expect("the file can be written");
}
