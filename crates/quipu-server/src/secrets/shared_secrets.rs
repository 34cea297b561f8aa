//! The secrets that all nodes over one log must have in common: the key that seals what vaults hold, and the one that
//! signs receipts, so that a secret put at one node opens at another, and the same replay gives the same receipt.
//!
//! They are drawn by the first node and kept in a note beside the log. The key that signs receipts is sealed with that of
//! the vaults; if the operator gives the latter, only its fingerprint is kept. Keys that sign checkpoints are not here:
//! each node has one of its own and vouches for what it has seen itself.

use std::path::Path;

use quipu_harness::{Sealer, SealingError};
use quipu_log::{EngineError, Note, Notes};
use quipu_wire::{Hash, json::base64};
use serde::{Deserialize, Serialize};

use crate::secrets::{
    receipt_issuer::{RECEIPT_KEY, SecretError, VAULT_KEY},
    secret_file,
    vault_key::VaultKey,
};

const NAME: &str = "secrets";
const FORMAT: u32 = 1;
/// Where the sealed key of the receipts belongs, as a sealer sees it.
const SEAL_CONTEXT: &str = "quipu";

/// The secrets of one server, or of all nodes over one log.
pub struct Secrets {
    pub(crate) receipt: [u8; 32],
    pub(crate) vault: [u8; 32],
    /// Whether the operator gave the key of the vaults, so that it is stored nowhere.
    given: bool,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    #[error(transparent)]
    File(#[from] SecretError),
    #[error("cannot read or make the secrets beside the log")]
    Storage(#[source] EngineError),
    #[error("the secrets beside the log cannot be read: {0}")]
    Unreadable(String),
    #[error("this node has another vault key than the other nodes of the log")]
    OtherVaultKey,
    #[error(
        "the receipt key that is stored beside the log cannot be decrypted with this node's vault key"
    )]
    Sealed(#[source] SealingError),
}

#[derive(Serialize, Deserialize)]
struct Document {
    format: u32,
    vault_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vault_key: Option<Hash>,
    receipt_key: String,
}

impl Secrets {
    /// The secrets of a data directory; drawn where they are not there.
    ///
    /// # Errors
    /// If a file can be neither read nor made.
    pub fn of_directory(directory: &Path, given: Option<&VaultKey>) -> Result<Self, SecretError> {
        let read = |file: &str| {
            let path = directory.join(file);
            secret_file::read_or_draw(&path).map_err(|source| SecretError { path, source })
        };
        let vault = match given {
            Some(VaultKey(key)) => *key,
            None => read(VAULT_KEY)?,
        };
        Ok(Self { receipt: read(RECEIPT_KEY)?, vault, given: given.is_some() })
    }

    /// The secrets that a data directory has; none where none were ever drawn. Draws nothing.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn in_directory(
        directory: &Path,
        given: Option<&VaultKey>,
    ) -> Result<Option<Self>, SecretsError> {
        let is_there = |file: &str| directory.join(file).exists();
        if !is_there(RECEIPT_KEY) && !is_there(VAULT_KEY) {
            return Ok(None);
        }
        Ok(Some(Self::of_directory(directory, given)?))
    }

    /// The secrets that all nodes have; none where none were ever drawn. Draws nothing.
    ///
    /// # Errors
    /// As `of_notes`.
    pub fn in_notes(
        notes: &dyn Notes,
        directory: &Path,
        given: Option<&VaultKey>,
    ) -> Result<Option<Self>, SecretsError> {
        let note = notes.get(NAME).map_err(SecretsError::Storage)?;
        note.map(|note| Self::read(&note, directory, given)).transpose()
    }

    /// The secrets of all nodes. Those of the first node's directory become everybody's.
    ///
    /// # Errors
    /// If the notes cannot be used, or this node has another key of vaults than the others.
    pub fn of_notes(
        notes: &dyn Notes,
        directory: &Path,
        given: Option<&VaultKey>,
    ) -> Result<Self, SecretsError> {
        if let Some(secrets) = Self::in_notes(notes, directory, given)? {
            return Ok(secrets);
        }
        Self::of_directory(directory, given)?.put(notes)?;
        // Whoever made them: they are everybody's.
        let secrets = Self::in_notes(notes, directory, given)?;
        secrets.ok_or_else(|| SecretsError::Unreadable("they are gone".to_owned()))
    }

    /// Makes these the secrets of all nodes, unless there are some already.
    ///
    /// # Errors
    /// If the notes cannot be used.
    pub fn put(&self, notes: &dyn Notes) -> Result<(), SecretsError> {
        let sealed = Sealer::new(&self.vault).seal(SEAL_CONTEXT, RECEIPT_KEY, &self.receipt);
        let document = Document {
            format: FORMAT,
            vault_id: fingerprint(&self.vault),
            vault_key: (!self.given).then(|| Hash::from_bytes(self.vault)),
            receipt_key: base64::encode(&sealed.map_err(SecretsError::Sealed)?),
        };
        let unreadable = |error: serde_json::Error| SecretsError::Unreadable(error.to_string());
        let bytes = serde_json::to_vec(&document).map_err(unreadable)?;
        notes.put(NAME, 0, &bytes).map(drop).map_err(SecretsError::Storage)
    }

    /// Writes these into a data directory, unless it has others already; then says so.
    ///
    /// # Errors
    /// If the files cannot be written, or hold others.
    pub fn put_into(&self, directory: &Path) -> Result<(), SecretsError> {
        let keep = |file: &str, secret: &[u8; 32]| {
            let path = directory.join(file);
            let kept = secret_file::read_or_keep(&path, secret);
            kept.map_err(|source| SecretError { path, source })
        };
        if !self.given && keep(VAULT_KEY, &self.vault)? != self.vault {
            return Err(SecretsError::OtherVaultKey);
        }
        if keep(RECEIPT_KEY, &self.receipt)? != self.receipt {
            tracing::warn!("the directory has a key of receipts already, and keeps it");
        }
        Ok(())
    }

    /// Whether both seal what vaults hold with the same key.
    #[must_use]
    pub fn seal_alike(&self, other: &Self) -> bool {
        self.vault == other.vault
    }

    fn read(note: &Note, directory: &Path, given: Option<&VaultKey>) -> Result<Self, SecretsError> {
        let unreadable = |reason: String| SecretsError::Unreadable(reason);
        let document: Document =
            serde_json::from_slice(&note.bytes).map_err(|error| unreadable(error.to_string()))?;
        if document.format != FORMAT {
            return Err(unreadable(format!("format {} is not known here", document.format)));
        }
        let vault = match (given, document.vault_key) {
            (Some(VaultKey(key)), _) => *key,
            (None, Some(key)) => *key.as_bytes(),
            // The operator gave it to the first node; a copy of that node's file does too.
            (None, None) => secret_file::read(&directory.join(VAULT_KEY))
                .map_err(|_| SecretsError::OtherVaultKey)?,
        };
        if fingerprint(&vault) != document.vault_id {
            return Err(SecretsError::OtherVaultKey);
        }
        let sealed = base64::decode(&document.receipt_key);
        let sealed = sealed.ok_or_else(|| unreadable("the key of the receipts".to_owned()))?;
        let receipt = Sealer::new(&vault).open(SEAL_CONTEXT, RECEIPT_KEY, &sealed);
        let receipt = receipt.map_err(SecretsError::Sealed)?.try_into();
        let receipt = receipt.map_err(|_| unreadable("the key of the receipts".to_owned()))?;
        Ok(Self { receipt, vault, given: document.vault_key.is_none() })
    }
}

/// Tells keys of vaults apart. The key has 256 random bits, so its hash gives nothing away.
fn fingerprint(vault: &[u8; 32]) -> String {
    let text = [b"quipu vault key ".as_slice(), vault].concat();
    Hash::of(&text).to_string().chars().take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_log::MemoryEngine;

    fn shared(engine: &MemoryEngine, given: Option<&VaultKey>) -> Result<Secrets, SecretsError> {
        Secrets::of_notes(engine, tempfile::tempdir().unwrap().path(), given)
    }

    #[test]
    fn every_node_has_the_secrets_of_the_first() {
        let (engine, directory) = (MemoryEngine::shared(), tempfile::tempdir().unwrap());
        let own = Secrets::of_directory(directory.path(), None).unwrap();
        let first = Secrets::of_notes(&engine, directory.path(), None).unwrap();
        let second = shared(&engine, None).unwrap();
        assert_eq!((own.receipt, own.vault), (first.receipt, first.vault));
        assert_eq!((first.receipt, first.vault), (second.receipt, second.vault));
    }

    #[test]
    fn a_key_that_the_operator_gave_is_kept_nowhere_and_must_be_everybodys() {
        let engine = MemoryEngine::shared();
        let (given, other) = (VaultKey([7; 32]), VaultKey([8; 32]));
        let first = shared(&engine, Some(&given)).unwrap();
        let text = String::from_utf8(engine.get(NAME).unwrap().unwrap().bytes).unwrap();
        assert!(!text.contains(&"07".repeat(8)) && !text.contains("vault_key"), "{text}");
        assert_eq!(shared(&engine, Some(&given)).unwrap().receipt, first.receipt);
        for wrong in [None, Some(&other)] {
            let error = shared(&engine, wrong).unwrap_err();
            assert!(matches!(error, SecretsError::OtherVaultKey), "{error}");
        }
    }

    #[test]
    fn a_directory_takes_secrets_and_never_changes_its_key_of_vaults() {
        let (engine, directory) = (MemoryEngine::shared(), tempfile::tempdir().unwrap());
        let secrets = shared(&engine, None).unwrap();
        secrets.put_into(directory.path()).unwrap();
        let own = Secrets::of_directory(directory.path(), None).unwrap();
        assert_eq!((own.receipt, own.vault), (secrets.receipt, secrets.vault));
        let others = shared(&MemoryEngine::shared(), None).unwrap();
        let error = others.put_into(directory.path()).unwrap_err();
        assert!(matches!(error, SecretsError::OtherVaultKey), "{error}");
    }
}
