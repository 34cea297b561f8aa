//! A disk in memory that is small enough to be filled. Only root may mount one.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A mounted disk, which is unmounted when this is dropped.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

fn runs(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|it| it.success())
}

impl SmallDisk {
    /// Mounts one over a folder; `None` without the right to do so.
    pub(crate) fn mount(folder: &Path, megabytes: usize) -> Option<Self> {
        let size = format!("size={megabytes}m");
        let mut mount = Command::new("mount");
        let mounted = runs(mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder));
        mounted.then(|| Self(folder.to_owned()))
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Fills it to the last byte.
    pub fn fill(&self) {
        // The command ends with an error because the disk is full, as intended.
        let to = format!("of={}", self.filler().display());
        runs(Command::new("dd").args(["if=/dev/zero", "bs=4k", &to]));
    }

    /// Makes room again.
    pub fn free(&self) {
        fs::remove_file(self.filler()).expect("the disk was filled");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        runs(Command::new("umount").arg("-l").arg(&self.0));
    }
}
