//! A secret of 32 bytes that a data directory keeps: drawn on first use, readable by its owner alone, and the
//! same from then on. What it is for is its user's business.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use quipu_wire::Hash;

use crate::ids;

pub(crate) fn read(path: &Path) -> io::Result<[u8; 32]> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let text = fs::read_to_string(path)?;
    text.trim().parse().map(|secret: Hash| *secret.as_bytes()).map_err(invalid)
}

/// Reads the secret, or makes it.
pub(crate) fn read_or_draw(path: &Path) -> io::Result<[u8; 32]> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => keep(path, &ids::seed()),
        other => other,
    }
}

/// Reads the secret, or makes this one the secret.
pub(crate) fn read_or_keep(path: &Path, secret: &[u8; 32]) -> io::Result<[u8; 32]> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => keep(path, secret),
        other => other,
    }
}

/// Keeps the secret: written whole and then named, so that nobody reads half of one. Where two make it at
/// once, the first name stays.
fn keep(path: &Path, secret: &[u8; 32]) -> io::Result<[u8; 32]> {
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(directory)?;
    let secret = Hash::from_bytes(*secret);
    let part = path.with_extension(format!("part-{}", std::process::id()));
    let mut file =
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&part)?;
    writeln!(file, "{secret}")?;
    file.sync_all()?;
    let linked = fs::hard_link(&part, path);
    fs::remove_file(&part)?;
    match linked {
        Ok(()) => {
            File::open(directory)?.sync_all()?;
            Ok(*secret.as_bytes())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(path),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_secret_is_drawn_once_and_is_its_owners_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/a.key");
        let secret = read_or_draw(&path).unwrap();
        assert_eq!(read_or_draw(&path).unwrap(), secret);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_ne!(read_or_draw(&directory.path().join("b.key")).unwrap(), secret);
    }

    #[test]
    fn a_file_that_holds_no_secret_is_an_error_and_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.key");
        fs::write(&path, "half").unwrap();
        assert_eq!(read_or_draw(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(fs::read_to_string(&path).unwrap(), "half");
    }
}
