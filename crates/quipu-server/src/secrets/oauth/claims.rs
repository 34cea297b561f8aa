//! What a token says, once its signature holds: whether it is for us and for now, and what it grants.

use quipu_log::FieldName;
use quipu_wire::{harn::TokenScope, json::reader::check_id, limits::AUTHORITY_MAX};
use serde_json::{Map, Value};

use super::{token::TokenError, verifier::OAuthOptions};
use crate::{
    limits::{TOKEN_AUTHORITY, TOKEN_LEEWAY_S},
    secrets::keys::is_reserved,
};

const AUTHORITY: &str = "quipu_authority";
const FIELD: &str = "quipu_field";

/// What a token grants its bearer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) agent: String,
    pub(crate) scopes: Vec<TokenScope>,
    pub(crate) authority: u8,
    pub(crate) field: Option<FieldName>,
}

/// Judges the claims of a token at a time, in seconds since 1970.
pub(super) fn judge(
    claims: &Map<String, Value>,
    expected: &OAuthOptions,
    now_s: u64,
) -> Result<Grant, TokenError> {
    if text(claims, "iss") != Some(expected.issuer.as_str()) {
        return Err(TokenError::Issuer);
    }
    if !is_for(claims.get("aud"), &expected.audience) {
        return Err(TokenError::Audience);
    }
    check_time(claims, now_s)?;
    Ok(Grant {
        agent: agent(claims)?,
        scopes: scopes(claims.get("scope"))?,
        authority: authority(claims.get(AUTHORITY))?,
        field: field(claims.get(FIELD))?,
    })
}

fn text<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c str> {
    claims.get(name).and_then(Value::as_str)
}

fn is_for(audience: Option<&Value>, us: &str) -> bool {
    match audience {
        Some(Value::String(one)) => one == us,
        Some(Value::Array(several)) => several.iter().any(|one| one.as_str() == Some(us)),
        _ => false,
    }
}

/// A token must end; it may also begin.
#[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^53")]
fn check_time(claims: &Map<String, Value>, now_s: u64) -> Result<(), TokenError> {
    let (now, leeway) = (now_s as f64, TOKEN_LEEWAY_S as f64);
    let ends = claims.get("exp").and_then(Value::as_f64).ok_or(TokenError::Claim("exp"))?;
    if now >= ends + leeway {
        return Err(TokenError::Expired);
    }
    let Some(begins) = claims.get("nbf") else { return Ok(()) };
    let begins = begins.as_f64().ok_or(TokenError::Claim("nbf"))?;
    if now + leeway < begins { Err(TokenError::NotYet) } else { Ok(()) }
}

/// A token is one agent's, never the Field's own, never everybody's, and never under a name that the server keeps.
fn agent(claims: &Map<String, Value>) -> Result<String, TokenError> {
    let sub = text(claims, "sub").filter(|sub| !matches!(*sub, "system" | "*"));
    let sub = sub.filter(|sub| check_id(sub).is_ok() && !is_reserved(sub));
    sub.map(str::to_owned).ok_or(TokenError::Claim("sub"))
}

/// Scopes of other services are passed over.
fn scopes(claim: Option<&Value>) -> Result<Vec<TokenScope>, TokenError> {
    let malformed = || TokenError::Claim("scope");
    let words: Vec<&str> = match claim {
        None => Vec::new(),
        Some(Value::String(words)) => words.split_ascii_whitespace().collect(),
        Some(Value::Array(words)) => {
            let words = words.iter().map(Value::as_str);
            words.collect::<Option<_>>().ok_or_else(malformed)?
        }
        Some(_) => return Err(malformed()),
    };
    Ok(words.into_iter().filter_map(TokenScope::parse).collect())
}

fn authority(claim: Option<&Value>) -> Result<u8, TokenError> {
    let Some(claim) = claim else { return Ok(TOKEN_AUTHORITY) };
    let authority = claim.as_u64().and_then(|authority| u8::try_from(authority).ok());
    authority.filter(|authority| *authority <= AUTHORITY_MAX).ok_or(TokenError::Claim(AUTHORITY))
}

fn field(claim: Option<&Value>) -> Result<Option<FieldName>, TokenError> {
    let Some(claim) = claim else { return Ok(None) };
    let name = claim.as_str().and_then(|name| FieldName::try_from(name).ok());
    name.map(Some).ok_or(TokenError::Claim(FIELD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const NOW: u64 = 1_800_000_000;

    fn claims(changes: &Value) -> Map<String, Value> {
        let mut claims = json!({
            "iss": "https://id.example", "aud": "quipu", "sub": "a", "exp": NOW + 600,
        });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims.as_object().unwrap().clone()
    }

    fn judged(changes: &Value) -> Result<Grant, TokenError> {
        let expected = OAuthOptions {
            jwks: "keys.json".into(),
            issuer: "https://id.example".to_owned(),
            audience: "quipu".to_owned(),
        };
        judge(&claims(changes), &expected, NOW)
    }

    #[test]
    fn a_token_says_who_may_do_what_where_and_with_what_authority() {
        let plain = judged(&json!({})).unwrap();
        assert_eq!((plain.agent.as_str(), plain.authority, plain.field), ("a", 5, None));
        assert_eq!(plain.scopes, []);
        let own = json!({
            "aud": ["other", "quipu"],
            "scope": "openid tasks:read  tasks:write",
            "quipu_authority": 8,
            "quipu_field": "own",
            "nbf": NOW,
        });
        let grant = judged(&own).unwrap();
        assert_eq!(grant.scopes, [TokenScope::TasksRead, TokenScope::TasksWrite]);
        assert_eq!((grant.authority, grant.field.unwrap().as_str()), (8, "own"));
        let listed = judged(&json!({"scope": ["events:read", "mail"]})).unwrap();
        assert_eq!(listed.scopes, [TokenScope::EventsRead]);
    }

    #[test]
    fn a_token_of_somebody_else_for_somebody_else_or_of_another_time_is_refused() {
        use TokenError as E;
        for (changes, why) in [
            (json!({"iss": "https://id.example/"}), E::Issuer),
            (json!({"iss": null}), E::Issuer),
            (json!({"aud": "quipu2"}), E::Audience),
            (json!({"aud": []}), E::Audience),
            (json!({"aud": {"quipu": 1}}), E::Audience),
            (json!({"exp": NOW - 30}), E::Expired),
            (json!({"exp": "never"}), E::Claim("exp")),
            (json!({"exp": null}), E::Claim("exp")),
            (json!({"nbf": NOW + 31}), E::NotYet),
            (json!({"nbf": "soon"}), E::Claim("nbf")),
            (json!({"sub": ""}), E::Claim("sub")),
            (json!({"sub": "*"}), E::Claim("sub")),
            (json!({"sub": "system"}), E::Claim("sub")),
            (json!({"sub": "operator"}), E::Claim("sub")),
            (json!({"sub": 7}), E::Claim("sub")),
            (json!({"scope": 7}), E::Claim("scope")),
            (json!({"scope": [7]}), E::Claim("scope")),
            (json!({"quipu_authority": 11}), E::Claim(AUTHORITY)),
            (json!({"quipu_authority": -1}), E::Claim(AUTHORITY)),
            (json!({"quipu_authority": "10"}), E::Claim(AUTHORITY)),
            (json!({"quipu_field": "../etc"}), E::Claim(FIELD)),
            (json!({"quipu_field": 1}), E::Claim(FIELD)),
        ] {
            assert_eq!(judged(&changes), Err(why), "{changes}");
        }
    }

    #[test]
    fn clocks_may_differ_a_little() {
        assert!(judged(&json!({"exp": NOW - 29})).is_ok());
        assert!(judged(&json!({"nbf": NOW + 30})).is_ok());
    }

    proptest! {
        #[test]
        fn a_token_grants_only_scopes_that_it_names(words in prop::collection::vec("[a-z]{1,9}:(read|write)", 0..6)) {
            let granted = judged(&json!({"scope": words.join(" ")})).unwrap().scopes;
            prop_assert!(granted.iter().all(|scope| words.iter().any(|word| word == scope.as_str())));
        }
    }
}
