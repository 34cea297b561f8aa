//! The secret half of a key that signs notes. Drawing its seed and keeping its text are the caller's business.

use std::{fmt, str::FromStr};

use quipu_wire::ed25519::SecretKey;

use super::{
    key_name::KeyName,
    verifier_key::{KeyError, KeyParts, VerifierKey, encode_material},
};

const PREFIX: &str = "PRIVATE+KEY+";

/// A key that signs notes. It is wiped from memory when dropped, and shows only its public half.
#[derive(Clone)]
pub struct SigningKey {
    verifier: VerifierKey,
    secret: SecretKey,
}

impl SigningKey {
    /// The key of a seed that the caller drew: 32 random bytes.
    #[must_use]
    pub fn from_seed(name: KeyName, seed: &[u8; 32]) -> Self {
        let secret = SecretKey::from_seed(seed);
        Self { verifier: VerifierKey::new(name, secret.public()), secret }
    }

    /// The public half, to be given to whoever verifies.
    #[must_use]
    pub const fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// The whole key as text, `PRIVATE+KEY+name+id+seed`. Whoever has it can sign; there is no `Display`, so that
    /// it does not end up in a message.
    #[must_use]
    pub fn to_secret_text(&self) -> String {
        let (name, id) = (self.verifier.name(), self.verifier.id());
        format!("{PREFIX}{name}+{id:08x}+{}", encode_material(self.secret.seed()))
    }

    pub(super) fn sign(&self, text: &str) -> [u8; 64] {
        self.secret.sign(text.as_bytes())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey({})", self.verifier)
    }
}

impl FromStr for SigningKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let form = "PRIVATE+KEY+name+id+seed";
        let rest = text.strip_prefix(PREFIX).ok_or(KeyError::Form { form })?;
        let parts = KeyParts::parse(rest, form)?;
        let key = Self::from_seed(parts.name, &parts.material);
        key.verifier.clone().with_id(&parts.id)?;
        Ok(key)
    }
}
