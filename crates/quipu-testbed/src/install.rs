//! Where tests install programs: once, in the folder of the build.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
};

/// The file by which cargo marks the folder of a build.
const MARK: &str = "CACHEDIR.TAG";

/// The folder of the build of the running program, else the system's folder for temporary files.
fn build_dir() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let found = program.ancestors().find(|dir| dir.join(MARK).exists());
    found.map_or_else(env::temp_dir, |dir| dir.join("tmp"))
}

/// Runs `install` on a folder of this name, once for all processes.
pub(crate) fn installed(name: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let dir = build_dir().join(name);
    fs::create_dir_all(&dir).expect("the build's folder can be written");
    let lock = File::create(dir.join("lock")).expect("the build's folder can be written");
    lock.lock().expect("files can be locked");
    if !dir.join("done").exists() {
        install(&dir);
        fs::write(dir.join("done"), "").expect("the build's folder can be written");
    }
    dir
}
