//! The file of keys: read whole, replaced whole. A reader sees the old file or the new one, never a
//! half; writers take turns by an operating system lock, so that several processes may write.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::{document, key::StoredKey};

#[derive(Debug)]
pub(super) struct KeyFile {
    directory: PathBuf,
    path: PathBuf,
}

impl KeyFile {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), path: directory.join("keys.json") }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// All keys; none where there is no file yet.
    pub(super) fn read(&self) -> io::Result<Vec<StoredKey>> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        document::decode(&text).map_err(|reason| io::Error::new(io::ErrorKind::InvalidData, reason))
    }

    /// Takes the writers' turn; it ends when the file that comes back is dropped.
    pub(super) fn lock(&self) -> io::Result<File> {
        fs::create_dir_all(&self.directory)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(self.directory.join("keys.lock"))?;
        file.lock()?;
        Ok(file)
    }

    /// Puts the file away where its keys were taken over by somewhere else, so that nobody takes it for the keys.
    pub(super) fn put_away(&self) -> io::Result<()> {
        fs::rename(&self.path, self.directory.join("keys.json.taken-over"))?;
        File::open(&self.directory)?.sync_all()
    }

    /// Replaces the file. Call it in the writers' turn only.
    pub(super) fn replace(&self, keys: Vec<StoredKey>) -> io::Result<()> {
        let text = document::encode_pretty(keys)?;
        let fresh = self.directory.join("keys.json.new");
        // What an earlier writer left behind may have other rights than we want.
        if fs::exists(&fresh)? {
            fs::remove_file(&fresh)?;
        }
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&fresh)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&fresh, &self.path)?;
        File::open(&self.directory)?.sync_all()
    }
}
