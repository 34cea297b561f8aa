//! The key that signs checkpoints. One seed per data directory; each Field signs under a name of its own,
//! because a checkpoint speaks for one log.
//!
//! Nodes over one log do not share the seed: a node vouches for what it has seen itself, so that an engine that went back
//! cannot make a node that knows nothing of it sign a second history under a key that signed the first. All their public
//! keys are in a note beside the log.

use std::path::{Path, PathBuf};

use quipu_log::{
    EngineError, FieldName, Notes,
    proof::{KeyError, SigningKey, VerifierKey},
};
use quipu_wire::{ErrorCode, ProtocolError};
use serde::{Deserialize, Serialize};

use crate::secrets::secret_file;

const FILE: &str = "checkpoint.key";
const NOTE: &str = "signers";
const FORMAT: u32 = 1;
/// The name under which nodes tell each other their keys.
const OF_NODES: &str = "quipu.local/node";
/// The most nodes whose keys are listed; a node that comes and goes with a new directory each time adds one each time.
const SIGNERS_MAX: usize = 256;
/// How often telling begins anew because another node tells.
const TRIES: usize = 64;

/// Signs checkpoints.
#[derive(Debug)]
pub(crate) struct Signer {
    path: PathBuf,
}

/// The public keys of all nodes, the oldest first.
#[derive(Serialize, Deserialize)]
struct Signers {
    format: u32,
    keys: Vec<String>,
}

impl Signer {
    /// Signs with the seed in a data directory.
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FILE) }
    }

    pub(crate) fn key(&self, field: &FieldName) -> Result<SigningKey, ProtocolError> {
        self.named(&name_of(field)).map_err(|error| self.unusable(&error))
    }

    /// The public keys of the other nodes for a Field.
    pub(crate) fn others(
        &self,
        notes: &dyn Notes,
        field: &FieldName,
    ) -> Result<Vec<VerifierKey>, ProtocolError> {
        let own = self.key(field)?;
        let (_, signers) = read_signers(notes).map_err(|error| self.unusable(&error))?;
        let renamed = |key: &String| -> Result<VerifierKey, KeyError> {
            let name = name_of(field).parse().map_err(KeyError::Name)?;
            Ok(key.parse::<VerifierKey>()?.renamed(name))
        };
        let keys: Result<Vec<_>, _> = signers.keys.iter().map(renamed).collect();
        let mut keys = keys.map_err(|error| self.unusable(&error))?;
        keys.retain(|key| key != own.verifier());
        Ok(keys)
    }

    /// Puts this node's public key beside those of the others.
    pub(crate) fn publish(&self, notes: &dyn Notes) -> Result<(), EngineError> {
        let own =
            self.named(OF_NODES).map_err(|source| io("read the key of checkpoints", source))?;
        let own = own.verifier().to_string();
        for _ in 0..TRIES {
            let (version, mut signers) = read_signers(notes)?;
            if signers.keys.contains(&own) {
                return Ok(());
            }
            signers.keys.push(own.clone());
            let beyond = signers.keys.len().saturating_sub(SIGNERS_MAX);
            signers.keys.drain(..beyond);
            let bytes = serde_json::to_vec(&signers).map_err(|e| io("write a note", e.into()))?;
            if notes.put(NOTE, version, &bytes)?.is_some() {
                return Ok(());
            }
        }
        Err(io("write a note", "other nodes change it again and again".into()))
    }

    fn named(&self, name: &str) -> Result<SigningKey, Box<dyn std::error::Error + Send + Sync>> {
        let seed = secret_file::read_or_draw(&self.path)?;
        Ok(SigningKey::from_seed(name.parse()?, &seed))
    }

    fn unusable(&self, error: &dyn std::fmt::Display) -> ProtocolError {
        tracing::error!(path = %self.path.display(), %error, "no key to sign checkpoints with");
        ProtocolError::new(ErrorCode::InternalError, "the key of the checkpoints is not usable")
    }
}

fn name_of(field: &FieldName) -> String {
    format!("quipu.local/{field}")
}

fn read_signers(notes: &dyn Notes) -> Result<(u64, Signers), EngineError> {
    let Some(note) = notes.get(NOTE)? else {
        return Ok((0, Signers { format: FORMAT, keys: Vec::new() }));
    };
    let signers: Signers =
        serde_json::from_slice(&note.bytes).map_err(|e| io("read a note", e.into()))?;
    if signers.format == FORMAT {
        return Ok((note.version, signers));
    }
    Err(io("read a note", format!("format {} is not known here", signers.format).into()))
}

fn io(action: &str, source: Box<dyn std::error::Error + Send + Sync>) -> EngineError {
    EngineError::Io { action: action.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_log::MemoryEngine;

    #[test]
    fn each_node_signs_with_its_own_key_and_knows_those_of_the_others() {
        let (engine, field) = (MemoryEngine::shared(), FieldName::default_field());
        let directories = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let signers = directories.each_ref().map(|directory| Signer::new(directory.path()));
        for signer in signers.iter().chain(&signers) {
            signer.publish(&engine).unwrap();
        }
        let own = signers.each_ref().map(|signer| signer.key(&field).unwrap().verifier().clone());
        let others = signers[1].others(&engine, &field).unwrap();
        assert_eq!(others, [own[0].clone(), own[2].clone()]);
        assert_ne!(own[0], own[1]);
    }
}
