//! How this protocol is served, and why it cannot be.

use std::str::FromStr;

use quipu_wire::json::base64;

use super::identity::ReceiptIssuer;
use crate::secrets::{
    oauth::{KeySetError, OAuthOptions},
    shared_secrets::SecretsError,
};

/// How the Harn protocol is served.
#[derive(Debug, Clone, Default)]
pub struct HarnOptions {
    /// Where callers reach the server; the address that it listens on if absent.
    pub public_url: Option<String>,
    /// Who issues receipts.
    pub issuer: ReceiptIssuer,
    /// Whose access tokens are taken; nobody's if absent.
    pub oauth: Option<OAuthOptions>,
    /// The key that seals the secrets of vaults; one of the data directory's own if absent.
    pub vault_key: Option<VaultKey>,
    /// Whether the hashes that replays and imports declare are believed, for published fixtures.
    pub trust_declared_hashes: bool,
    /// The largest content of an Artifact, in bytes; that of `quipu-harness` if absent.
    pub content_bytes_max: Option<usize>,
}

/// The key that seals the secrets of vaults: 32 bytes, written in base64. It is shown by nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct VaultKey(pub(crate) [u8; 32]);

impl std::fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VaultKey")
    }
}

/// A text that is no key of vaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be base64 of 32 bytes")]
pub struct VaultKeyError;

impl FromStr for VaultKey {
    type Err = VaultKeyError;

    fn from_str(text: &str) -> Result<Self, VaultKeyError> {
        let bytes = base64::decode(text.trim()).ok_or(VaultKeyError)?;
        bytes.try_into().map(Self).map_err(|_| VaultKeyError)
    }
}

/// Why this protocol cannot be served as it is asked for.
#[derive(Debug, thiserror::Error)]
pub enum HarnSetupError {
    /// The secrets of the server cannot be read or made.
    #[error(transparent)]
    Secret(#[from] SecretsError),
    /// The keys of the identity provider cannot be used.
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_vaults_is_32_bytes_and_is_not_shown() {
        let text = base64::encode(&[7; 32]);
        let key: VaultKey = format!("{text}\n").parse().unwrap();
        assert_eq!((key.0, format!("{key:?}").as_str()), ([7; 32], "VaultKey"));
        for wrong in ["", "short", &base64::encode(&[7; 31]), &base64::encode(&[7; 33])] {
            assert_eq!(wrong.parse::<VaultKey>(), Err(VaultKeyError));
        }
    }
}
