//! How secrets are kept: sealed, so that only this server can open them, and only where they were put. A sealed
//! secret that was moved to another vault or another name does not open. Draws the nonce of each seal itself;
//! everything else that is random in this crate is handed in.

use quipu_replay::receipt::SecretHashing;
use quipu_wire::json::canon;
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hmac,
    rand::{SecureRandom as _, SystemRandom},
};

/// The form of what is sealed: this byte, the nonce, the text with its tag.
const FORM: u8 = 1;

/// Why a secret cannot be sealed or opened. Says nothing of the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealingError {
    #[error("there is no randomness to seal a secret with")]
    Randomness,
    #[error("the secret cannot be sealed")]
    Seal,
    #[error("the sealed secret does not open: another key sealed it, or it was altered")]
    Open,
}

pub struct Sealer {
    key: LessSafeKey,
    hashing: SecretHashing,
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer")
    }
}

impl Sealer {
    /// Seals under a key of 32 random bytes. The key itself is used for neither sealing nor hashing: each has
    /// one that follows from it.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        let sealing = derived(key, b"quipu vault sealing");
        let key_of_seal = UnboundKey::new(&CHACHA20_POLY1305, &sealing);
        Self {
            key: LessSafeKey::new(key_of_seal.expect("the key has the length of the algorithm's")),
            hashing: SecretHashing::Keyed(derived(key, b"quipu secret hashing")),
        }
    }

    /// How receipts and recordings distinguish secrets without holding them.
    #[must_use]
    pub const fn hashing(&self) -> &SecretHashing {
        &self.hashing
    }

    /// Seals what a vault holds under a name.
    ///
    /// # Errors
    /// Where there is no randomness, or the secret is beyond what can be sealed at once.
    pub fn seal(&self, vault: &str, name: &str, secret: &[u8]) -> Result<Vec<u8>, SealingError> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| SealingError::Randomness)?;
        let mut text = secret.to_vec();
        let (place, drawn) = (Aad::from(context(vault, name)), Nonce::assume_unique_for_key(nonce));
        self.key
            .seal_in_place_append_tag(drawn, place, &mut text)
            .map_err(|_| SealingError::Seal)?;
        let mut sealed = Vec::with_capacity(1 + NONCE_LEN + text.len());
        sealed.push(FORM);
        sealed.extend(nonce);
        sealed.extend(text);
        Ok(sealed)
    }

    /// Opens what was sealed for the same vault and name.
    ///
    /// # Errors
    /// Where it was altered or moved, or sealed with another key.
    pub fn open(&self, vault: &str, name: &str, sealed: &[u8]) -> Result<Vec<u8>, SealingError> {
        let Some((&FORM, rest)) = sealed.split_first() else { return Err(SealingError::Open) };
        let Some((nonce, text)) = rest.split_first_chunk::<NONCE_LEN>() else {
            return Err(SealingError::Open);
        };
        let (place, nonce) =
            (Aad::from(context(vault, name)), Nonce::assume_unique_for_key(*nonce));
        let mut text = text.to_vec();
        let opened = self.key.open_in_place(nonce, place, &mut text);
        opened.map(|secret| secret.to_vec()).map_err(|_| SealingError::Open)
    }
}

/// Where a secret belongs. A list, so that no two places have the same text.
fn context(vault: &str, name: &str) -> Vec<u8> {
    canon::to_vec(&[vault, name]).expect("a list of texts has a canonical form")
}

fn derived(key: &[u8; 32], purpose: &[u8]) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), purpose);
    tag.as_ref().try_into().expect("a tag of SHA-256 has 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn sealer() -> Sealer {
        Sealer::new(&[7; 32])
    }

    #[test]
    fn what_is_sealed_does_not_show_the_secret_and_never_looks_the_same() {
        let secret = b"correct horse battery staple";
        let sealed = sealer().seal("vault_1", "token", secret).unwrap();
        assert!(!sealed.windows(7).any(|window| window == b"correct"));
        assert_ne!(sealed, sealer().seal("vault_1", "token", secret).unwrap());
        assert_eq!(sealer().open("vault_1", "token", &sealed).unwrap(), secret);
    }

    #[test]
    fn a_secret_opens_only_where_it_was_put_and_with_its_key() {
        let sealed = sealer().seal("vault_1", "token", b"s3cret").unwrap();
        for (vault, name) in [("vault_2", "token"), ("vault_1", "other"), ("vault_1t", "oken")] {
            assert_eq!(sealer().open(vault, name, &sealed), Err(SealingError::Open));
        }
        let other = Sealer::new(&[8; 32]);
        assert_eq!(other.open("vault_1", "token", &sealed), Err(SealingError::Open));
    }

    #[test]
    fn a_secret_is_hashed_with_a_key_of_its_own() {
        let digest = |sealer: &Sealer| sealer.hashing().digest(&Value::from("s3cret"));
        assert_eq!(digest(&sealer()), digest(&sealer()));
        assert_ne!(digest(&sealer()), digest(&Sealer::new(&[8; 32])));
        let plain = SecretHashing::Keyed([7; 32]).digest(&Value::from("s3cret"));
        assert_ne!(digest(&sealer()), plain, "the key itself hashes nothing");
        assert_eq!(format!("{:?}", sealer()), "Sealer");
    }

    proptest! {
        #[test]
        fn reads_back_any_secret(secret: Vec<u8>, vault: String, name: String) {
            let sealed = sealer().seal(&vault, &name, &secret).unwrap();
            prop_assert_eq!(sealer().open(&vault, &name, &sealed), Ok(secret));
        }

        #[test]
        fn any_changed_bit_and_any_lost_byte_is_noticed(secret: Vec<u8>, place: prop::sample::Index, bit in 0..8) {
            let sealed = sealer().seal("v", "n", &secret).unwrap();
            let mut altered = sealed.clone();
            altered[place.index(sealed.len())] ^= 1_u8 << bit;
            prop_assert_eq!(sealer().open("v", "n", &altered), Err(SealingError::Open));
            let cut = &sealed[..place.index(sealed.len())];
            prop_assert_eq!(sealer().open("v", "n", cut), Err(SealingError::Open));
        }
    }
}
