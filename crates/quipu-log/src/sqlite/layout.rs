//! The data directory: its lock, its format file, the paths of a field's files and who may read them. Does not read a
//! field's files.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use super::open_error::OpenError;
use crate::field_name::FieldName;

const FORMAT: u64 = 1;
const FORMAT_WORD: &str = "quipu-data ";

#[derive(Debug, Clone)]
pub(super) struct FieldFiles {
    pub(super) dir: PathBuf,
    pub(super) log: PathBuf,
    pub(super) head: PathBuf,
}

impl FieldFiles {
    pub(super) fn new(data: &Path, field: &FieldName) -> Self {
        let dir = data.join("fields").join(field.as_str());
        Self { log: dir.join("log.sqlite"), head: dir.join("head"), dir }
    }

    /// Whether a write-ahead log with content lies beside the database.
    pub(super) fn has_wal(&self) -> bool {
        fs::metadata(self.dir.join("log.sqlite-wal")).is_ok_and(|wal| wal.len() > 0)
    }
}

/// Creates the directory if it does not exist, takes its lock, and checks its format.
pub(super) fn open_for_writing(dir: &Path) -> Result<File, OpenError> {
    make_dir(dir).map_err(OpenError::io("create data directory", dir))?;
    let lock = take_lock(dir)?;
    let format = dir.join("format");
    match fs::read_to_string(&format) {
        Ok(text) => check_format(dir, &text)?,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            if dir.join("fields").exists() {
                return Err(not_data(dir, "it has fields but no `format` file"));
            }
            write_format(dir).map_err(OpenError::io("write", format))?;
        }
        Err(e) => return Err(OpenError::io("read", format)(e)),
    }
    let fields = dir.join("fields");
    make_dir(&fields).map_err(OpenError::io("create", fields))?;
    sync_dir(dir).map_err(OpenError::io("sync", dir))?;
    Ok(lock)
}

/// Checks the format without changing anything.
pub(super) fn open_for_reading(dir: &Path) -> Result<(), OpenError> {
    let format = dir.join("format");
    match fs::read_to_string(&format) {
        Ok(text) => check_format(dir, &text),
        Err(e) if e.kind() == ErrorKind::NotFound => Err(not_data(dir, "it has no `format` file")),
        Err(e) => Err(OpenError::io("read", format)(e)),
    }
}

fn not_data(dir: &Path, reason: &str) -> OpenError {
    OpenError::NotADataDirectory { dir: dir.to_owned(), reason: reason.to_owned() }
}

fn take_lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join("lock");
    let lock = private_file(OpenOptions::new().write(true).create(true).truncate(false), &path)
        .map_err(OpenError::io("open", &path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { dir: dir.to_owned() }),
        Err(TryLockError::Error(e)) => Err(OpenError::io("lock", path)(e)),
    }
}

fn check_format(dir: &Path, text: &str) -> Result<(), OpenError> {
    let number = text
        .strip_prefix(FORMAT_WORD)
        .and_then(|rest| rest.strip_suffix('\n'))
        .and_then(|number| number.parse::<u64>().ok());
    match number {
        Some(FORMAT) => Ok(()),
        Some(found) if found > FORMAT => {
            let path = dir.join("format");
            Err(OpenError::NewerFormat { path, found, supported: FORMAT })
        }
        Some(_) | None => Err(not_data(dir, &format!("its `format` file says {text:?}"))),
    }
}

// Written to a second file and renamed, so that a crash leaves either no format file or a complete one.
fn write_format(dir: &Path) -> io::Result<()> {
    let fresh = dir.join("format.new");
    let options = &mut OpenOptions::new();
    let mut file = private_file(options.write(true).create(true).truncate(true), &fresh)?;
    file.write_all(format!("{FORMAT_WORD}{FORMAT}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, dir.join("format"))?;
    sync_dir(dir)
}

/// Creates a directory that only its owner may enter. An existing one is left as it is.
pub(super) fn make_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file. If this creates it, only its owner may read it.
pub(super) fn private_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
