//! The key that seals what vaults hold, as the operator gives it.

use std::str::FromStr;

use quipu_wire::json::base64;

/// The key that seals the secrets of vaults: 32 bytes, written in base64. It is shown by nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct VaultKey(pub(crate) [u8; 32]);

impl std::fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VaultKey")
    }
}

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
