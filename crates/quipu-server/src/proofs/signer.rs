//! The key that signs checkpoints. One seed per data directory, made on first use and readable by its
//! owner alone; each Field signs under a name of its own, because a checkpoint speaks for one log.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use quipu_log::{FieldName, proof::SigningKey};
use quipu_wire::{ErrorCode, Hash, ProtocolError};

use crate::ids;

const FILE: &str = "checkpoint.key";

/// Signs checkpoints.
#[derive(Debug)]
pub(crate) struct Signer {
    path: PathBuf,
}

impl Signer {
    /// Signs with the seed in a data directory.
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FILE) }
    }

    /// The key of a Field.
    pub(crate) fn key(&self, field: &FieldName) -> Result<SigningKey, ProtocolError> {
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!(path = %self.path.display(), %error, "no key to sign checkpoints with");
            ProtocolError::new(ErrorCode::InternalError, "the key of the checkpoints is not usable")
        };
        let seed = self.seed().map_err(|error| failed(&error))?;
        let name = format!("quipu.local/{field}").parse().map_err(|error| failed(&error))?;
        Ok(SigningKey::from_seed(name, seed.as_bytes()))
    }

    fn seed(&self) -> io::Result<Hash> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        match fs::read_to_string(&self.path) {
            Ok(text) => text.trim().parse().map_err(invalid),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.make(),
            Err(error) => Err(error),
        }
    }

    /// Makes the seed: written whole and then named, so that nobody reads half of one. Where two make
    /// it at once, the first name stays.
    fn make(&self) -> io::Result<Hash> {
        let seed = Hash::from_bytes(ids::seed());
        let part = self.path.with_extension(format!("part-{}", std::process::id()));
        let mut file =
            OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&part)?;
        writeln!(file, "{seed}")?;
        file.sync_all()?;
        let linked = fs::hard_link(&part, &self.path);
        fs::remove_file(&part)?;
        match linked {
            Ok(()) => {
                if let Some(directory) = self.path.parent() {
                    File::open(directory)?.sync_all()?;
                }
                Ok(seed)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.seed(),
            Err(error) => Err(error),
        }
    }
}
