//! Ed25519, for all that signs or verifies: notes of the log, receipts, tokens. Verifying is strict: the keys and the forms
//! of a signature that only some implementations accept are refused, so that all who verify agree.
//! Drawing a seed and keeping it are the caller's business.

use std::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

/// The half that signs. It is wiped from memory when dropped, and `Debug` does not reveal it.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// The key of a seed that the caller drew: 32 random bytes.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The seed again, to be kept. Whoever has it can sign.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The signature over `message`.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}

/// The half that verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// The key of these bytes, or nothing if they are no point of the curve, or one for which anyone can sign.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().filter(|key| !key.is_weak()).map(Self)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Whether `signature` is one of this key over `message`.
    #[must_use]
    pub fn accepts(&self, message: &[u8], signature: &[u8]) -> bool {
        let signature = Signature::from_slice(signature);
        signature.is_ok_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 2: the seed, the key, and its signature over the byte 0x72.
    const SEED: &str = "TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=";
    const KEY: &str = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";
    const SIGNATURE: &str =
        "kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA==";

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        crate::json::base64::decode(text).unwrap().try_into().unwrap()
    }

    #[test]
    fn signs_and_verifies_as_rfc_8032_has_it() {
        let secret = SecretKey::from_seed(&bytes(SEED));
        assert_eq!((secret.public().as_bytes(), secret.seed()), (&bytes(KEY), &bytes(SEED)));
        assert_eq!(secret.sign(&[0x72]), bytes(SIGNATURE));
        let public = PublicKey::from_bytes(&bytes(KEY)).unwrap();
        assert!(public.accepts(&[0x72], &bytes::<64>(SIGNATURE)));
        assert!(!public.accepts(&[0x73], &bytes::<64>(SIGNATURE)));
        assert!(!public.accepts(&[0x72], &bytes::<64>(SIGNATURE)[..63]));
        assert_eq!(format!("{secret:?}"), "SecretKey");
    }

    #[test]
    fn a_key_for_which_anyone_can_sign_is_none() {
        let mut one = [0; 32];
        one[0] = 1;
        assert_eq!((PublicKey::from_bytes(&[0; 32]), PublicKey::from_bytes(&one)), (None, None));
        let no_point = (0..=255_u8)
            .map(|byte| [byte; 32])
            .find(|bytes| PublicKey::from_bytes(bytes).is_none() && bytes[0] > 1);
        assert!(no_point.is_some(), "half of all bytes are no point");
    }

    #[test]
    fn a_signature_has_only_one_form() {
        let public = PublicKey::from_bytes(&bytes(KEY)).unwrap();
        // The group's order, added to the second half: the same number for an implementation that is not strict.
        const ORDER: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9,
            0xde, 0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let mut signature = bytes::<64>(SIGNATURE);
        let mut carry = 0;
        for (byte, added) in signature[32..].iter_mut().zip(ORDER) {
            let sum = u16::from(*byte) + u16::from(added) + carry;
            (*byte, carry) = (sum.to_le_bytes()[0], sum >> 8);
        }
        assert!(!public.accepts(&[0x72], &signature));
    }
}
