//! The key that signs checkpoints. One seed per data directory; each Field signs under a name of its own,
//! because a checkpoint speaks for one log.

use std::path::{Path, PathBuf};

use quipu_log::{FieldName, proof::SigningKey};
use quipu_wire::{ErrorCode, ProtocolError};

use crate::secret_file;

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
        let seed = secret_file::read_or_draw(&self.path).map_err(|error| failed(&error))?;
        let name = format!("quipu.local/{field}").parse().map_err(|error| failed(&error))?;
        Ok(SigningKey::from_seed(name, &seed))
    }
}
