//! A token's outer form: three parts, of which the first says how the other two are held together. Nothing in
//! it is believed before its signature holds, and no problem repeats anything of it.

use quipu_wire::json::{base64, canon};
use serde_json::{Map, Value};

use super::key_set::{Algorithm, KeySet};
use crate::limits::TOKEN_BYTES_MAX;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("the access token is longer than {TOKEN_BYTES_MAX} bytes")]
    TooLong,
    #[error("the access token is not a signed JSON Web Token")]
    Form,
    #[error("the access token must be signed by RS256, ES256 or EdDSA")]
    Algorithm,
    #[error("the header of the access token has `{0}`, which is not supported")]
    Header(&'static str),
    #[error("the access token is signed by a key that is not known here")]
    UnknownKey,
    #[error("the signature of the access token is not valid")]
    Signature,
    #[error("the access token has no usable claim `{0}`")]
    Claim(&'static str),
    #[error("the access token is of another issuer")]
    Issuer,
    #[error("the access token is for another audience")]
    Audience,
    #[error("the access token has expired")]
    Expired,
    #[error("the access token is not valid yet")]
    NotYet,
}

/// The claims of a token whose signature holds.
pub(super) fn verified(token: &str, keys: &KeySet) -> Result<Map<String, Value>, TokenError> {
    if token.len() > TOKEN_BYTES_MAX {
        return Err(TokenError::TooLong);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Form)?;
    let (header, claims) = signed.split_once('.').ok_or(TokenError::Form)?;
    let header = object(header).ok_or(TokenError::Form)?;
    let algorithm = algorithm(&header)?;
    let kid = match header.get("kid") {
        None => None,
        Some(Value::String(kid)) => Some(kid.as_str()),
        Some(_) => return Err(TokenError::Header("kid")),
    };
    let key = keys.find(algorithm, kid).ok_or(TokenError::UnknownKey)?;
    let signature = base64::decode_url(signature).ok_or(TokenError::Form)?;
    if !key.accepts(signed.as_bytes(), &signature) {
        return Err(TokenError::Signature);
    }
    object(claims).ok_or(TokenError::Form)
}

fn algorithm(header: &Map<String, Value>) -> Result<Algorithm, TokenError> {
    let word = |name: &str| header.get(name).and_then(Value::as_str);
    let algorithm = word("alg").and_then(Algorithm::parse).ok_or(TokenError::Algorithm)?;
    // What must be understood and is not must be refused; we understand no extension.
    if header.contains_key("crit") {
        return Err(TokenError::Header("crit"));
    }
    let kinds = ["JWT", "at+jwt", "application/at+jwt"];
    let is_token = |kind: &str| kinds.iter().any(|known| known.eq_ignore_ascii_case(kind));
    match header.get("typ") {
        None => Ok(algorithm),
        Some(kind) if kind.as_str().is_some_and(is_token) => Ok(algorithm),
        Some(_) => Err(TokenError::Header("typ")),
    }
}

fn object(part: &str) -> Option<Map<String, Value>> {
    let value = canon::parse(&base64::decode_url(part)?).ok()?;
    value.as_object().cloned()
}
