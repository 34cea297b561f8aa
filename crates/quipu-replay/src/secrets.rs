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
    /// The same under a key of its own for what a name stands for, such as a run: a digest that was made within one
    /// says nothing of those within others, so that a guess there tells nothing of a secret here.
    #[must_use]
    pub fn within(&self, name: &str) -> Self {
        match self {
            Self::Omit => Self::Omit,
            // No value is hashed under the key itself that has these bytes in front: they are no JSON.
            Self::Keyed(key) => {
                let key = hmac(key, format!("within\0{name}").as_bytes());
                Self::Keyed(*key.as_bytes())
            }
        }
    }

    /// What may be said of a value instead of its digest; nothing if nothing may.
    #[must_use]
    pub fn digest(&self, value: &Value) -> Option<Sha256> {
        match self {
            Self::Omit => None,
            Self::Keyed(key) => Some(Sha256(hmac(key, &canon::to_vec(value).ok()?))),
        }
    }
}

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

    #[test]
    fn a_digest_within_one_run_is_another_within_the_next() {
        let secrets = SecretHashing::Keyed([3; 32]);
        let digest = |hashing: &SecretHashing| hashing.digest(&Value::from("s3cret"));
        assert_eq!(digest(&secrets.within("a")), digest(&secrets.within("a")));
        assert_ne!(digest(&secrets.within("a")), digest(&secrets.within("b")));
        assert_ne!(digest(&secrets.within("a")), digest(&secrets));
        assert_eq!(SecretHashing::Omit.within("a"), SecretHashing::Omit);
    }
}
