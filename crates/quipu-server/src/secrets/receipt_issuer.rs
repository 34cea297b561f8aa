//! Who this server is to callers of this protocol: the issuer of its receipts, and the key that signs them.
//! Identity is configured and never discovered, so that two servers can say the same.

use std::{io, path::PathBuf};

use quipu_replay::receipt::{IssuerFacts, ReceiptSigner};
use quipu_wire::{Hash, harn::IssuerKind};

pub(crate) const RECEIPT_KEY: &str = "receipt.key";
/// The file of the key that seals what vaults hold.
pub(crate) const VAULT_KEY: &str = "vault.key";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptIssuer {
    pub id: String,
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
    pub(crate) fn facts(&self, signer: &ReceiptSigner) -> IssuerFacts {
        IssuerFacts {
            id: self.id.clone(),
            kind: IssuerKind::Harness,
            name: Some(self.name.clone()),
            public_key_id: Some(signer.public().key_id().to_owned()),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot use the secret in {path}")]
pub struct SecretError {
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

/// The key that signs receipts, with an id that follows from it.
pub(crate) fn receipt_signer(seed: &[u8; 32]) -> ReceiptSigner {
    let public = ReceiptSigner::from_seed("", seed).public().material();
    let digest = Hash::of(public.as_bytes()).to_string();
    let key_id = format!("receipt-{}", digest.get(..16).unwrap_or_default());
    ReceiptSigner::from_seed(key_id, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_and_its_id_stay_the_same_and_are_a_servers_own() {
        let (first, again) = (receipt_signer(&[1; 32]), receipt_signer(&[1; 32]));
        assert_eq!(first.public(), again.public());
        assert_ne!(first.public().key_id(), receipt_signer(&[2; 32]).public().key_id());
    }
}
