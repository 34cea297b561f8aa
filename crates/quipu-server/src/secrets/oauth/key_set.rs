//! The public keys of an identity provider: a JSON Web Key Set (RFC 7517). Keys for other uses or of kinds that
//! sign no token are passed over; a set without one that does is an error, and so is a private key.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use quipu_wire::{
    ed25519::PublicKey,
    json::{base64, canon},
};
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::{Map, Value};

use crate::limits::KEY_SET_BYTES_MAX;

/// The shortest modulus of RSA that is taken, in bytes.
const MODULUS_BYTES_MIN: usize = 256;

#[derive(Debug, thiserror::Error)]
pub enum KeySetError {
    #[error("cannot read the key set {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the key set {path} {problem}")]
    Content { path: PathBuf, problem: String },
}

/// How a token may be signed. There is no other way: neither `none` nor anything with a shared secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenKey {
    kid: Option<String>,
    material: Material,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519([u8; 32]),
}

impl TokenKey {
    const fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
            Material::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    pub(super) fn accepts(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            Material::Rsa { n, e } => RsaPublicKeyComponents { n, e }.verify(
                &signature::RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            Material::P256(point) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature)
            }
            Material::Ed25519(point) => {
                let key = PublicKey::from_bytes(point);
                return key.is_some_and(|key| key.accepts(message, signature));
            }
        };
        verified.is_ok()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeySet(Vec<TokenKey>);

impl KeySet {
    pub(super) fn read(path: &Path) -> Result<Self, KeySetError> {
        let unread = |source| KeySetError::Read { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unread)?;
        file.take(KEY_SET_BYTES_MAX).read_to_end(&mut bytes).map_err(unread)?;
        Self::parse(&bytes)
            .map_err(|problem| KeySetError::Content { path: path.to_owned(), problem })
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document = canon::parse(bytes).map_err(|error| format!("is not JSON: {error}"))?;
        let listed = document.get("keys").and_then(Value::as_array);
        let listed = listed.ok_or("has no list of `keys`")?;
        let mut keys = Vec::new();
        for (index, entry) in listed.iter().enumerate() {
            let read = entry.as_object().ok_or_else(|| "is no object".to_owned()).and_then(key);
            match read {
                Ok(Some(key)) => keys.push(key),
                Ok(None) => {}
                Err(problem) => return Err(format!("is not usable: key {} {problem}", index + 1)),
            }
        }
        if keys.is_empty() {
            return Err("holds no key that signs by RS256, ES256 or EdDSA".to_owned());
        }
        Ok(Self(keys))
    }

    /// The key that a token names. One that names none may mean the only key of its kind.
    pub(super) fn find(&self, algorithm: Algorithm, kid: Option<&str>) -> Option<&TokenKey> {
        let mut fitting = self.0.iter().filter(|key| key.algorithm() == algorithm);
        match kid {
            Some(_) => fitting.find(|key| key.kid.as_deref() == kid),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        }
    }
}

/// Reads one key; none where it is for something else.
fn key(entry: &Map<String, Value>) -> Result<Option<TokenKey>, String> {
    let word = |name: &str| entry.get(name).and_then(Value::as_str);
    if word("use").is_some_and(|purpose| purpose != "sig") {
        return Ok(None);
    }
    let (material, algorithm) = match (word("kty"), word("crv")) {
        (Some("RSA"), _) => (rsa(entry)?, "RS256"),
        (Some("EC"), Some("P-256")) => (p256(entry)?, "ES256"),
        (Some("OKP"), Some("Ed25519")) => (Material::Ed25519(sized(entry, "x")?), "EdDSA"),
        (Some(_), _) => return Ok(None),
        (None, _) => return Err("has no `kty`".to_owned()),
    };
    if entry.contains_key("d") {
        return Err("is private; the file must hold public keys alone".to_owned());
    }
    if word("alg").is_some_and(|alg| alg != algorithm) {
        return Ok(None);
    }
    Ok(Some(TokenKey { kid: word("kid").map(str::to_owned), material }))
}

fn rsa(entry: &Map<String, Value>) -> Result<Material, String> {
    let number = |name| {
        let bytes = bytes(entry, name)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Ok::<_, String>(bytes.get(zeros..).unwrap_or_default().to_vec())
    };
    let (n, e) = (number("n")?, number("e")?);
    if n.len() < MODULUS_BYTES_MIN {
        return Err("is an RSA key of less than 2048 bits".to_owned());
    }
    Ok(Material::Rsa { n, e })
}

fn p256(entry: &Map<String, Value>) -> Result<Material, String> {
    // An uncompressed point, as SEC 1 writes it.
    let point = [&[4][..], &sized(entry, "x")?[..], &sized(entry, "y")?[..]].concat();
    Ok(Material::P256(point))
}

fn sized(entry: &Map<String, Value>, name: &str) -> Result<[u8; 32], String> {
    let bytes = <[u8; 32]>::try_from(bytes(entry, name)?);
    bytes.map_err(|_| format!("has a `{name}` that is not of 32 bytes"))
}

fn bytes(entry: &Map<String, Value>, name: &str) -> Result<Vec<u8>, String> {
    let text = entry.get(name).and_then(Value::as_str);
    text.and_then(base64::decode_url)
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| format!("has no `{name}` in base64url"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const X: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

    fn parse(keys: &Value) -> Result<KeySet, String> {
        KeySet::parse(json!({"keys": keys}).to_string().as_bytes())
    }

    #[test]
    fn keys_for_other_uses_and_of_other_kinds_are_passed_over() {
        let own = json!({"kty": "OKP", "crv": "Ed25519", "x": X, "kid": "a", "use": "sig"});
        let set = parse(&json!([
            {"kty": "oct", "k": X},
            {"kty": "OKP", "crv": "X25519", "x": X},
            {"kty": "EC", "crv": "P-384", "x": X, "y": X},
            {"kty": "OKP", "crv": "Ed25519", "x": X, "use": "enc"},
            {"kty": "OKP", "crv": "Ed25519", "x": X, "alg": "ES512"},
            own,
        ]));
        assert_eq!(set, parse(&json!([own])));
    }

    #[test]
    fn a_key_is_found_by_its_id_and_kind_or_if_it_is_the_only_one_of_its_kind() {
        let set = parse(&json!([
            {"kty": "OKP", "crv": "Ed25519", "x": X, "kid": "a"},
            {"kty": "OKP", "crv": "Ed25519", "x": X, "kid": "b"},
            {"kty": "EC", "crv": "P-256", "x": X, "y": X, "kid": "c"},
        ]))
        .unwrap();
        let found = |algorithm, kid| set.find(algorithm, kid).and_then(|key| key.kid.as_deref());
        assert_eq!(found(Algorithm::EdDsa, Some("b")), Some("b"));
        assert_eq!(found(Algorithm::EdDsa, None), None, "which of two");
        assert_eq!(found(Algorithm::Es256, None), Some("c"));
        assert_eq!(found(Algorithm::EdDsa, Some("c")), None, "another kind of key");
        assert_eq!(found(Algorithm::Rs256, None), None);
    }

    #[test]
    fn a_key_for_which_anyone_can_sign_accepts_nothing() {
        // The neutral point, and the signature that holds under it for every message, where that is not refused.
        let mut neutral = [0; 64];
        neutral[0] = 1;
        let point = <[u8; 32]>::try_from(&neutral[..32]).unwrap();
        let key = TokenKey { kid: None, material: Material::Ed25519(point) };
        assert!(!key.accepts(b"any message", &neutral));
    }

    #[test]
    fn a_file_that_is_not_a_usable_key_set_says_why() {
        for (keys, why) in [
            (json!([]), "no key that signs"),
            (json!([3]), "key 1 is no object"),
            (json!([{"x": X}]), "no `kty`"),
            (json!([{"kty": "OKP", "crv": "Ed25519"}]), "no `x` in base64url"),
            (json!([{"kty": "OKP", "crv": "Ed25519", "x": "AA"}]), "not of 32 bytes"),
            (json!([{"kty": "EC", "crv": "P-256", "x": X}]), "no `y` in base64url"),
            (json!([{"kty": "RSA", "n": X, "e": "AQAB"}]), "less than 2048 bits"),
            (json!([{"kty": "OKP", "crv": "Ed25519", "x": X, "d": X}]), "is private"),
        ] {
            let problem = parse(&keys).unwrap_err();
            assert!(problem.contains(why), "{keys}: {problem}");
            assert!(!problem.contains(X), "{problem}");
        }
        assert!(KeySet::parse(b"{}").unwrap_err().contains("no list of `keys`"));
        assert!(KeySet::parse(b"{").unwrap_err().contains("is not JSON"));
    }
}
