//! What a receipt says of a secret. A plain hash of a short secret can be guessed, so a receipt has none:
//! either nothing at all, or a hash that only the holder of a key can make.

use serde_json::Value;

use quipu_wire::{
    harn::{DependencyKind, Sha256},
    hash::Hash,
    json::canon,
};

const BLOCK: usize = 64;

/// How secrets are distinguished without being written down.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretHashing {
    /// Not at all: the digest is null.
    Omit,
    /// By HMAC-SHA-256 under this key.
    Keyed([u8; 32]),
}

impl std::fmt::Debug for SecretHashing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Omit => "Omit",
            Self::Keyed(_) => "Keyed(..)",
        })
    }
}

impl SecretHashing {
    /// What may be said of a value instead of its digest; nothing if nothing may.
    #[must_use]
    pub fn digest(&self, value: &Value) -> Option<Sha256> {
        match self {
            Self::Omit => None,
            Self::Keyed(key) => Some(Sha256(hmac(key, &canon::to_vec(value).ok()?))),
        }
    }
}

/// Whether a kind of answer is a secret.
pub(crate) fn is_secret(kind: DependencyKind) -> bool {
    kind == DependencyKind::SecretValue
}

/// HMAC-SHA-256 (RFC 2104) for a key that is shorter than a block.
pub(crate) fn hmac(key: &[u8; 32], message: &[u8]) -> Hash {
    let pad = |byte: u8| {
        let mut block = [byte; BLOCK];
        for (place, key) in block.iter_mut().zip(key) {
            *place ^= key;
        }
        block
    };
    let inner = Hash::of_parts(&[&pad(0x36), message]);
    Hash::of_parts(&[&pad(0x5c), inner.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyed_hash_is_hmac_sha_256() {
        // Made with Python: hmac.new(bytes(range(32)), b'"s3cret"', "sha256").hexdigest()
        let key: [u8; 32] = std::array::from_fn(|n| u8::try_from(n).unwrap());
        let digest = SecretHashing::Keyed(key).digest(&Value::from("s3cret")).unwrap();
        assert_eq!(
            digest.bare(),
            "a9200064c1e5a50697b80ce8c7f3bbdec0e062e649feb6017aa4a930ec66c529"
        );
        assert_eq!(SecretHashing::Omit.digest(&Value::from("s3cret")), None);
        assert!(!format!("{:?}", SecretHashing::Keyed(key)).contains("1, 2, 3"));
    }
}
