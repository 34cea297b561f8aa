//! Who calls by this protocol: an API key or an access token, in `Authorization`, in `X-API-Key`, or, for a
//! WebSocket of a browser, among its subprotocols. What it lets its bearer do, and as whom.

use axum::http::{HeaderMap, header};
use quipu_core::Reader;
use quipu_harness::Caller;
use quipu_wire::harn::{HarnError, HarnErrorCode, TokenScope};

use super::upgrade;
use crate::{
    pipeline::{
        auth,
        harn_refusal::HarnRefused,
        sender::{AGENT, reader},
        state::App,
    },
    secrets::{
        keys::{Credential, KeyAgent},
        oauth::Grant,
    },
};

const API_KEY: &str = "x-api-key";

/// A credential that holds.
#[derive(Debug, Clone)]
pub(super) struct Bearer {
    pub(super) credential: Credential,
    /// What an access token is for; a key is for everything.
    scopes: Option<Vec<TokenScope>>,
}

impl Bearer {
    /// Finds out who calls, and whether it has not asked for too much already.
    pub(super) fn identify(app: &App, headers: &HeaderMap) -> Result<Self, HarnRefused> {
        let bearer = Self::authenticate(app, headers)?;
        auth::prove(&bearer.credential)?;
        if let Some(throttle) = &app.throttle {
            throttle.spend(&bearer.credential.key_id)?;
        }
        Ok(bearer)
    }

    /// Whether what a request presented still holds. That counts as no request.
    pub(super) fn holds(app: &App, headers: &HeaderMap) -> bool {
        Self::authenticate(app, headers).is_ok()
    }

    fn authenticate(app: &App, headers: &HeaderMap) -> Result<Self, HarnRefused> {
        if app.dev {
            let credential = auth::without_key(app.keyless_authority);
            return Ok(Self { credential, scopes: None });
        }
        let secret = secret(headers)?;
        if let Some(credential) = app.keys.authenticate(secret) {
            return Ok(Self { credential, scopes: None });
        }
        match &app.tokens {
            Some(tokens) if secret.contains('.') => match tokens.verify(secret) {
                Ok(grant) => Ok(grant.into()),
                Err(error) => Err(refuse(&error.to_string())),
            },
            Some(_) | None => Err(match auth::unread(app) {
                Some(unread) => unread.into(),
                None => refuse("the key is unknown or was revoked"),
            }),
        }
    }

    /// Refuses a token that is not for this.
    pub(super) fn require(&self, scope: TokenScope) -> Result<(), HarnRefused> {
        match &self.scopes {
            Some(scopes) if !scopes.contains(&scope) => Err(HarnRefused::new(
                HarnErrorCode::PermissionDenied,
                format!("the access token lacks the scope {scope}"),
            )),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn caller(&self, headers: &HeaderMap) -> Result<Caller, HarnRefused> {
        let Reader { agent, session, .. } = reader(headers, &self.credential)?;
        let agent = agent.unwrap_or_else(|| self.credential.own_name());
        if agent == "system" {
            let message = "Akashik-Agent: `system` is the Field's own name";
            return Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at(AGENT).into());
        }
        let (own_key, roles) = (self.credential.is_of_one(), self.credential.role_grant());
        let (authority, key) = (self.credential.authority, self.credential.noted_id());
        Ok(Caller { agent, authority, own_key, key, session, roles })
    }
}

impl From<Grant> for Bearer {
    fn from(grant: Grant) -> Self {
        let credential = Credential {
            // No key's id has a colon, so a token spends from a bucket of its own.
            key_id: format!("token:{}", grant.agent),
            agent: KeyAgent::Named(grant.agent),
            authority: grant.authority,
            field: grant.field,
            roles: Vec::new(),
        };
        Self { credential, scopes: Some(grant.scopes) }
    }
}

/// The key or token of a request.
fn secret(headers: &HeaderMap) -> Result<&str, HarnRefused> {
    if headers.contains_key(header::AUTHORIZATION) {
        return Ok(auth::bearer(headers)?);
    }
    let given = match headers.get(API_KEY) {
        Some(value) => value.to_str().ok(),
        None => upgrade::bearer(headers),
    };
    given.ok_or_else(|| refuse("a key or an access token is required, as Authorization: Bearer"))
}

fn refuse(problem: &str) -> HarnRefused {
    HarnRefused::new(HarnErrorCode::Unauthenticated, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_wire::limits::AUTHORITY_MAX;

    fn token(scopes: &[TokenScope]) -> Bearer {
        let agent = "a".to_owned();
        Grant { agent, scopes: scopes.to_vec(), authority: 5, field: None }.into()
    }

    #[test]
    fn a_token_is_for_its_scopes_alone_and_a_key_for_everything() {
        let bearer = token(&[TokenScope::TasksRead]);
        assert!(bearer.require(TokenScope::TasksRead).is_ok());
        let refused = bearer.require(TokenScope::TasksWrite).unwrap_err().into_error();
        assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
        assert!(refused.message.contains("tasks:write"), "{refused}");
        assert!(token(&[]).require(TokenScope::TasksRead).is_err());
        let key = Bearer { credential: auth::without_key(AUTHORITY_MAX), scopes: None };
        assert!(TokenScope::ALL.iter().all(|scope| key.require(*scope).is_ok()));
    }

    #[test]
    fn whoever_may_do_everything_and_names_nobody_is_the_operator() {
        let key = Bearer { credential: auth::without_key(AUTHORITY_MAX), scopes: None };
        assert_eq!(key.caller(&HeaderMap::new()).unwrap().agent, "operator");
        let named = HeaderMap::from_iter([(
            axum::http::HeaderName::from_static(AGENT),
            axum::http::HeaderValue::from_static("b"),
        )]);
        assert_eq!(key.caller(&named).unwrap().agent, "b");
        assert_eq!(token(&[]).caller(&HeaderMap::new()).unwrap().agent, "a");
        assert!(token(&[]).caller(&named).is_err());
        let weaker = Bearer { credential: auth::without_key(AUTHORITY_MAX - 1), scopes: None };
        assert_eq!(weaker.caller(&HeaderMap::new()).unwrap().agent, "key-dev");
    }
}
