//! An identity provider: three keys, the set that it publishes, and tokens that it signs, good and bad.

use std::{fs, path::PathBuf, time::SystemTime};

use quipu_server::{HarnOptions, OAuthOptions};
use quipu_wire::json::base64;
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
        RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents,
    },
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject as _};
use serde_json::{Value, json};

use crate::support::{Setup, TestServer};

pub(crate) const ISSUER: &str = "https://id.example";
pub(crate) const AUDIENCE: &str = "quipu";

/// How a token can be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alg {
    Rs256,
    Es256,
    EdDsa,
}

impl Alg {
    pub(crate) const ALL: [Self; 3] = [Self::Rs256, Self::Es256, Self::EdDsa];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// An identity provider, whose key set is a file.
pub(crate) struct Provider {
    directory: tempfile::TempDir,
    ed25519: Ed25519KeyPair,
    p256: EcdsaKeyPair,
    rsa: RsaKeyPair,
    random: SystemRandom,
}

impl Provider {
    /// A provider that has published its keys.
    pub(crate) fn new() -> Self {
        let random = SystemRandom::new();
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let p256 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pem = include_bytes!("../../data/provider-rsa.pem");
        let rsa = PrivatePkcs8KeyDer::from_pem_slice(pem).unwrap();
        let provider = Self {
            directory: tempfile::tempdir().unwrap(),
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).unwrap(),
            p256: EcdsaKeyPair::from_pkcs8(algorithm, p256.as_ref(), &random).unwrap(),
            rsa: RsaKeyPair::from_pkcs8(rsa.secret_pkcs8_der()).unwrap(),
            random,
        };
        provider.publish(&provider.key_set());
        provider
    }

    /// The file of the key set.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("jwks.json")
    }

    /// Replaces the file, as whoever fetches it would.
    pub(crate) fn publish(&self, key_set: &Value) {
        let fresh = self.directory.path().join("jwks.json.new");
        fs::write(&fresh, key_set.to_string()).unwrap();
        fs::rename(&fresh, self.file()).unwrap();
    }

    pub(crate) fn key_set(&self) -> Value {
        let rsa = RsaPublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        let point = self.p256.public_key().as_ref();
        json!({"keys": [
            {"kty": "RSA", "kid": "RS256", "use": "sig", "n": url(&rsa.n), "e": url(&rsa.e)},
            {"kty": "EC", "crv": "P-256", "kid": "ES256", "x": url(&point[1..33]), "y": url(&point[33..])},
            {"kty": "OKP", "crv": "Ed25519", "kid": "EdDSA", "x": url(self.ed25519.public_key().as_ref())},
        ]})
    }

    pub(crate) fn options(&self) -> OAuthOptions {
        let (issuer, audience) = (ISSUER.to_owned(), AUDIENCE.to_owned());
        OAuthOptions { jwks: self.file(), issuer, audience }
    }

    /// A server that takes this provider's tokens.
    pub(crate) fn server(&self) -> TestServer {
        let harn = HarnOptions { oauth: Some(self.options()), ..HarnOptions::default() };
        TestServer::with(Setup { harn, ..Setup::default() })
    }

    /// A token of agent `a` for everything, with these claims changed.
    pub(crate) fn token(&self, alg: Alg, changes: &Value) -> String {
        let header = json!({"alg": alg.name(), "typ": "at+jwt", "kid": alg.name()});
        self.sign(alg, &header, &claims(changes))
    }

    /// A token with this header, signed by the key of `alg` whatever the header says.
    pub(crate) fn sign(&self, alg: Alg, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", part(header), part(claims));
        let message = signed.as_bytes();
        let signature = match alg {
            Alg::EdDsa => self.ed25519.sign(message).as_ref().to_vec(),
            Alg::Es256 => self.p256.sign(&self.random, message).unwrap().as_ref().to_vec(),
            Alg::Rs256 => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa.sign(&RSA_PKCS1_SHA256, &self.random, message, &mut signature).unwrap();
                signature
            }
        };
        format!("{signed}.{}", url(&signature))
    }
}

/// What a token says if nobody says otherwise; null takes a claim away.
pub(crate) fn claims(changes: &Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "a", "exp": now() + 600,
        "scope": "sessions:read sessions:write tasks:read tasks:write",
    });
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

#[expect(clippy::disallowed_methods, reason = "a token has to expire by the server's clock")]
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

/// A part of a token.
pub(crate) fn part(value: &Value) -> String {
    url(value.to_string().as_bytes())
}

/// Base64 for URLs, without padding.
pub(crate) fn url(bytes: &[u8]) -> String {
    base64::encode(bytes).replace('+', "-").replace('/', "_").trim_end_matches('=').to_owned()
}
