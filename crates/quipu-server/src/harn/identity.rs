//! Who this server is to callers of this protocol: the issuer of its receipts, the key that signs them, and
//! the one that seals what it is trusted with. Identity is configured and never discovered, so that two servers can say the same.

use std::{
    io,
    path::{Path, PathBuf},
};

use quipu_harness::Sealer;
use quipu_replay::receipt::{IssuerFacts, ReceiptSigner};
use quipu_wire::{Hash, harn::IssuerKind};

use super::options::VaultKey;
use crate::secret_file;

const RECEIPT_KEY: &str = "receipt.key";
const VAULT_KEY: &str = "vault.key";

/// Who issues receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptIssuer {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The policy under which Tasks run, as receipts name it.
    pub policy_ref: Option<String>,
}

impl Default for ReceiptIssuer {
    fn default() -> Self {
        Self { id: "quipu".to_owned(), name: "Quipu".to_owned(), policy_ref: None }
    }
}

impl ReceiptIssuer {
    /// What a receipt says of its issuer.
    pub(crate) fn facts(&self, signer: &ReceiptSigner) -> IssuerFacts {
        IssuerFacts {
            id: self.id.clone(),
            kind: IssuerKind::Harness,
            name: Some(self.name.clone()),
            public_key_id: Some(signer.public().key_id().to_owned()),
        }
    }
}

/// A secret of the data directory that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the secret in {path}")]
pub struct SecretError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// The key that signs receipts: of the data directory, with an id that follows from it.
pub(crate) fn receipt_signer(data_dir: &Path) -> Result<ReceiptSigner, SecretError> {
    let seed = secret(data_dir, RECEIPT_KEY)?;
    let public = ReceiptSigner::from_seed("", &seed).public().material();
    let digest = Hash::of(public.as_bytes()).to_string();
    let key_id = format!("receipt-{}", digest.get(..16).unwrap_or_default());
    Ok(ReceiptSigner::from_seed(key_id, &seed))
}

/// What seals the secrets of vaults: with the key that was given, else with the data directory's own.
pub(crate) fn sealer(data_dir: &Path, given: Option<&VaultKey>) -> Result<Sealer, SecretError> {
    match given {
        Some(VaultKey(key)) => Ok(Sealer::new(key)),
        None => secret(data_dir, VAULT_KEY).map(|key| Sealer::new(&key)),
    }
}

fn secret(data_dir: &Path, file: &str) -> Result<[u8; 32], SecretError> {
    let path = data_dir.join(file);
    secret_file::read_or_draw(&path).map_err(|source| SecretError { path, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_and_its_id_stay_the_same_and_are_a_servers_own() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = receipt_signer(one.path()).unwrap();
        let again = receipt_signer(one.path()).unwrap();
        assert_eq!(first.public(), again.public());
        assert_ne!(
            first.public().key_id(),
            receipt_signer(other.path()).unwrap().public().key_id()
        );
    }
}
