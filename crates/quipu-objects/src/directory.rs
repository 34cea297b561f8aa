//! A directory that all nodes see, on a network file system for example.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use quipu_field::{SnapshotStore, StoreError};

/// What a file is called until it is whole, behind its name.
const PART: &str = "part";

#[derive(Debug)]
pub struct DirectoryStore {
    root: PathBuf,
}

impl DirectoryStore {
    /// Files below a directory, which is made when the first is put there.
    #[must_use]
    pub const fn new(root: PathBuf) -> Self {
        Self { root }
    }
}

fn failed(action: &str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let action = format!("{action} {}", path.display());
    move |source| StoreError { action, source: source.into() }
}

impl SnapshotStore for DirectoryStore {
    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let path = self.root.join(folder);
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed("list", &path))?,
        };
        let names = entries.map(|entry| Ok(entry?.file_name().to_str().map(str::to_owned)));
        let names: io::Result<Vec<Option<String>>> = names.collect();
        Ok(names.map_err(failed("list", &path))?.into_iter().flatten().collect())
    }

    fn get(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        let path = self.root.join(path);
        fs::read(&path).map_err(failed("read", &path))
    }

    fn put(&self, path: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        let path = self.root.join(path);
        let part = path.with_extension(PART);
        let written = write(&path, &part, &bytes);
        if written.is_err() {
            fs::remove_file(&part).ok();
        }
        written.map_err(failed("write", &path))
    }

    fn delete(&self, path: &str) -> Result<(), StoreError> {
        let path = self.root.join(path);
        // What an interrupted node left of it goes too: it holds the same words.
        fs::remove_file(path.with_extension(PART)).ok();
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(failed("remove", &path)),
        }
    }
}

fn write(path: &Path, part: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(part, path)?;
    File::open(folder)?.sync_all()
}
