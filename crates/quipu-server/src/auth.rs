//! Who calls: the key in `Authorization`, and what it lets its bearer do. Knows no agent's
//! registration; that is the Field's.

use axum::http::{HeaderMap, header};
use quipu_wire::{ErrorCode, ProtocolError, limits::AUTHORITY_MAX};

use crate::{
    app::App,
    keys::{Credential, KeyAgent},
};

/// What the caller may do, if it has not asked for too much already.
pub(crate) fn credential(app: &App, headers: &HeaderMap) -> Result<Credential, ProtocolError> {
    let credential = known(app, headers)?;
    if let Some(throttle) = &app.throttle {
        throttle.spend(&credential.key_id)?;
    }
    Ok(credential)
}

/// The same for what is asked by the way, and counts as no request.
pub(crate) fn known(app: &App, headers: &HeaderMap) -> Result<Credential, ProtocolError> {
    if app.dev {
        return Ok(Credential {
            key_id: "dev".to_owned(),
            agent: KeyAgent::Any,
            authority: AUTHORITY_MAX,
            field: None,
        });
    }
    let refuse = |problem: &str| ProtocolError::new(ErrorCode::Unauthenticated, problem);
    let value = headers
        .get(header::AUTHORIZATION)
        .ok_or_else(|| refuse("Authorization: is required, with a key as Bearer"))?;
    let key = value
        .to_str()
        .ok()
        .and_then(bearer)
        .ok_or_else(|| refuse("Authorization: must be `Bearer` and a key"))?;
    app.keys
        .authenticate(key)
        .ok_or_else(|| refuse("Authorization: the key is unknown or was revoked"))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// Refuses a caller whose key is too weak, where no agent is asked for.
pub(crate) fn require(credential: &Credential, needed: u8) -> Result<(), ProtocolError> {
    let authority = credential.authority;
    if authority >= needed {
        return Ok(());
    }
    Err(ProtocolError::new(
        ErrorCode::InsufficientAuthority,
        format!("this needs authority {needed}, and the key has {authority}"),
    ))
}
