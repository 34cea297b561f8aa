//! Checks tokens against the keys of a file, which may be replaced while the server runs. A file that breaks
//! later changes nothing: the keys that were good stay good, and the operator is told.

use std::{
    path::PathBuf,
    sync::{PoisonError, RwLock},
};

use super::{
    claims::{self, Grant},
    key_set::{KeySet, KeySetError},
    token::{self, TokenError},
};
use crate::{
    clock::unix_ms,
    secrets::file_watch::{Pace, Stamp},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthOptions {
    /// The file with the public keys of the identity provider.
    pub jwks: PathBuf,
    pub issuer: String,
    pub audience: String,
}

#[derive(Debug)]
pub(crate) struct TokenVerifier {
    options: OAuthOptions,
    table: RwLock<Table>,
    pace: Pace,
}

#[derive(Debug)]
struct Table {
    stamp: Stamp,
    keys: KeySet,
}

impl TokenVerifier {
    /// Reads the keys, which must be usable.
    pub(crate) fn open(options: OAuthOptions) -> Result<Self, KeySetError> {
        let keys = KeySet::read(&options.jwks)?;
        let stamp = Stamp::of(&options.jwks).unwrap_or_default();
        Ok(Self { options, table: RwLock::new(Table { stamp, keys }), pace: Pace::new() })
    }

    pub(crate) fn verify(&self, token: &str) -> Result<Grant, TokenError> {
        if self.pace.is_due() {
            self.refresh();
        }
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let claims = token::verified(token, &table.keys)?;
        drop(table);
        claims::judge(&claims, &self.options, unix_ms() / 1000)
    }

    fn refresh(&self) {
        let known = self.table.read().unwrap_or_else(PoisonError::into_inner).stamp;
        // Stamp first: a change in between is then noticed at the next look.
        let stamp = Stamp::of(&self.options.jwks).unwrap_or_default();
        if stamp == known {
            return;
        }
        let read = KeySet::read(&self.options.jwks);
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.stamp = stamp;
        match read {
            Ok(keys) => {
                table.keys = keys;
                tracing::info!(path = %self.options.jwks.display(), "read the key set again");
            }
            Err(error) => tracing::error!(
                error = quipu_field::with_causes(&error),
                "the key set was not reloaded; the keys from before still hold"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn key_set(kid: &str) -> String {
        let x = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
        format!(r#"{{"keys": [{{"kty": "OKP", "crv": "Ed25519", "kid": "{kid}", "x": "{x}"}}]}}"#)
    }

    #[test]
    fn a_file_that_breaks_later_changes_nothing_until_it_is_mended() {
        let directory = tempfile::tempdir().unwrap();
        let jwks = directory.path().join("jwks.json");
        fs::write(&jwks, key_set("first")).unwrap();
        let (issuer, audience) = ("i".to_owned(), "a".to_owned());
        let options = OAuthOptions { jwks: jwks.clone(), issuer, audience };
        let verifier = TokenVerifier::open(options).unwrap();
        let keys = || verifier.table.read().unwrap().keys.clone();
        let first = keys();
        fs::write(&jwks, "{").unwrap();
        verifier.refresh();
        assert_eq!(keys(), first, "broken");
        fs::remove_file(&jwks).unwrap();
        verifier.refresh();
        assert_eq!(keys(), first, "gone");
        fs::write(&jwks, key_set("another")).unwrap();
        verifier.refresh();
        assert_ne!(keys(), first, "mended");
    }
}
