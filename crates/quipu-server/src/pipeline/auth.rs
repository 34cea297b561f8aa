//! Who calls: the key in `Authorization`, and what it lets its bearer do. Knows no agent's
//! registration; that is the Field's.

use axum::http::{HeaderMap, header};
use quipu_wire::{ErrorCode, ProtocolError, limits::AUTHORITY_MAX};

use crate::{
    pipeline::state::App,
    secrets::keys::{Credential, KeyAgent},
};

/// What the caller may do, if it has not asked for too much already.
pub(crate) fn credential(app: &App, headers: &HeaderMap) -> Result<Credential, ProtocolError> {
    let credential = uncounted_credential(app, headers)?;
    if let Some(throttle) = &app.throttle {
        throttle.spend(&credential.key_id)?;
    }
    Ok(credential)
}

/// The same where the caller does not count as sending a request, such as a stream that checks its key again.
pub(crate) fn uncounted_credential(
    app: &App,
    headers: &HeaderMap,
) -> Result<Credential, ProtocolError> {
    if app.dev {
        return Ok(of_dev());
    }
    app.keys.authenticate(bearer(headers)?).ok_or_else(|| {
        unread(app).unwrap_or_else(|| refuse("Authorization: the key is unknown or was revoked"))
    })
}

/// The refusal where nobody knows which keys are good.
pub(crate) fn unread(app: &App) -> Option<ProtocolError> {
    let what = "the keys could not be read for a while: the storage of the log is away";
    (!app.keys.is_fresh()).then(|| ProtocolError::new(ErrorCode::FieldUnavailable, what))
}

/// What everybody may do without keys.
pub(crate) fn of_dev() -> Credential {
    Credential {
        key_id: "dev".to_owned(),
        agent: KeyAgent::Any,
        authority: AUTHORITY_MAX,
        field: None,
        roles: Vec::new(),
    }
}

/// What follows `Bearer` in `Authorization`.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, ProtocolError> {
    let value = headers
        .get(header::AUTHORIZATION)
        .ok_or_else(|| refuse("Authorization: is required, with a key as Bearer"))?;
    let text = value.to_str().ok().and_then(|value| value.split_once(' '));
    text.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, key)| key.trim())
        .ok_or_else(|| refuse("Authorization: must be `Bearer` and a key"))
}

fn refuse(problem: &str) -> ProtocolError {
    ProtocolError::new(ErrorCode::Unauthenticated, problem)
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
