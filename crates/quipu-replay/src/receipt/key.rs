//! Keys that sign receipts and keys that verify them: Ed25519 over the text of the receipt's hash, with
//! its `sha256:` prefix. Drawing a seed and keeping it are the caller's business.

use std::{fmt, str::FromStr};

use quipu_wire::{
    ed25519::{PublicKey, SecretKey},
    harn::{ReceiptSignature, Sha256},
    json::base64,
};

pub const SIGNATURE_ALGORITHM: &str = "ed25519";

const PREFIX: &str = "base64:";

/// A key that signs receipts. It is wiped from memory when dropped, and shows only its public half.
pub struct ReceiptSigner {
    public: ReceiptKey,
    secret: SecretKey,
}

/// The public half, written `KEY_ID=BASE64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptKey {
    key_id: String,
    key: PublicKey,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("key is not of the form KEY_ID=BASE64")]
    Form,
    #[error("key {key_id} is not base64 of 32 bytes")]
    Material { key_id: String },
    /// Bytes that are no point of the curve, or one for which anyone can sign.
    #[error("key {key_id} is not a usable Ed25519 public key")]
    Weak { key_id: String },
}

impl ReceiptSigner {
    /// The key of a seed that the caller drew: 32 random bytes.
    #[must_use]
    pub fn from_seed(key_id: impl Into<String>, seed: &[u8; 32]) -> Self {
        let secret = SecretKey::from_seed(seed);
        let public = ReceiptKey { key_id: key_id.into(), key: secret.public() };
        Self { public, secret }
    }

    #[must_use]
    pub const fn public(&self) -> &ReceiptKey {
        &self.public
    }

    #[must_use]
    pub fn sign(&self, hash: &Sha256, signed_at: Option<String>) -> ReceiptSignature {
        let signature = self.secret.sign(hash.to_string().as_bytes());
        ReceiptSignature {
            key_id: self.public.key_id.clone(),
            algorithm: SIGNATURE_ALGORITHM.to_owned(),
            signature: format!("{PREFIX}{}", base64::encode(&signature)),
            signed_at,
        }
    }
}

impl fmt::Debug for ReceiptSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceiptSigner({})", self.public)
    }
}

impl ReceiptKey {
    /// Its id, as signatures name it.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The key in base64, as the agent card advertises it.
    #[must_use]
    pub fn material(&self) -> String {
        base64::encode(self.key.as_bytes())
    }

    /// Whether `signature` is one of this key over a receipt's hash. Strict, so that all who verify agree.
    #[must_use]
    pub fn accepts(&self, hash: &Sha256, signature: &str) -> bool {
        let bytes = signature.strip_prefix(PREFIX).and_then(base64::decode);
        bytes.is_some_and(|bytes| self.key.accepts(hash.to_string().as_bytes(), &bytes))
    }
}

impl fmt::Display for ReceiptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key_id, self.material())
    }
}

impl FromStr for ReceiptKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (key_id, material) = text.split_once('=').ok_or(KeyError::Form)?;
        if key_id.is_empty() || material.is_empty() {
            return Err(KeyError::Form);
        }
        let key_id = key_id.to_owned();
        let material = material.strip_prefix(PREFIX).unwrap_or(material);
        let bytes = base64::decode(material).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let Some(bytes) = bytes else { return Err(KeyError::Material { key_id }) };
        match PublicKey::from_bytes(&bytes) {
            Some(key) => Ok(Self { key_id, key }),
            None => Err(KeyError::Weak { key_id }),
        }
    }
}
