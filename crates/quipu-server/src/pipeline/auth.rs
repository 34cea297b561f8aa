//! Who calls: the key in `Authorization`, and what it lets its bearer do. Knows no agent's
//! registration; that is the Field's.

use axum::http::{HeaderMap, header};
use quipu_field::{Asker, Field};
use quipu_wire::{ErrorCode, ProtocolError};
use tokio::sync::watch;

use crate::{
    limits::KEYS_AUTHORITY,
    net::visits,
    pipeline::{errors::akashik_error, state::App},
    secrets::keys::{Credential, KeyAgent, NO_KEY},
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
    let credential = if app.dev {
        without_key(app.keyless_authority)
    } else {
        app.keys.authenticate(bearer(headers)?).ok_or_else(|| {
            let unknown = || refuse("Authorization: the key is unknown or was revoked");
            unread(app).unwrap_or_else(unknown)
        })?
    };
    prove(&credential)?;
    Ok(credential)
}

/// Whether what these headers present still holds, without counting as a request.
pub(crate) fn holds(app: &App, headers: &HeaderMap) -> bool {
    uncounted_credential(app, headers).is_ok()
}

/// Waits until the keys have changed and this one is none of them any more. It may be dropped and asked for again.
pub(crate) async fn revoked(changes: &mut watch::Receiver<u64>, holds: impl Fn() -> bool) {
    while changes.changed().await.is_ok() {
        if !holds() {
            return;
        }
    }
    // The keys are gone with the server, which ends its streams in another way.
    std::future::pending().await
}

/// Says to all that goes by it whose request is worked on.
pub(crate) fn prove(credential: &Credential) -> Result<(), ProtocolError> {
    visits::prove(&credential.key_id)?;
    // Where there are no keys, nobody is told apart.
    if let Some(key) = credential.noted_id() {
        Asker::prove(&key);
    }
    Ok(())
}

/// The refusal where nobody knows which keys are good.
pub(crate) fn unread(app: &App) -> Option<ProtocolError> {
    let what = "the keys could not be read for a while: the storage of the log is away";
    (!app.keys.is_fresh()).then(|| ProtocolError::new(ErrorCode::FieldUnavailable, what))
}

/// What everybody may do where there are no keys.
pub(crate) fn without_key(authority: u8) -> Credential {
    let (key_id, roles) = (NO_KEY.to_owned(), Vec::new());
    Credential { key_id, agent: KeyAgent::Any, authority, field: None, roles }
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

/// Whether it is the operator of the whole server: a key that is bound to a Field or an agent is not.
pub(crate) fn is_operator(credential: &Credential) -> bool {
    credential.authority >= KEYS_AUTHORITY
        && credential.agent == KeyAgent::Any
        && credential.field.is_none()
}

/// Refuses a key for any agent that speaks for a stronger one, or under a name that the server keeps. Without keys
/// nobody's name is anybody's.
pub(crate) fn check_name(
    app: &App,
    credential: &Credential,
    field: &Field,
    agent: &str,
) -> Result<(), ProtocolError> {
    if app.dev || credential.is_of_one() {
        return Ok(());
    }
    check_kept(app, credential, agent)?;
    field.check_borrowed(agent, credential.authority).map_err(|error| akashik_error(&error))
}

/// Refuses a key for any agent that takes a name which the server keeps.
pub(crate) fn check_kept(
    app: &App,
    credential: &Credential,
    agent: &str,
) -> Result<(), ProtocolError> {
    if app.dev || credential.is_of_one() || credential.may_take(agent) {
        return Ok(());
    }
    let message = format!(
        "{agent} is a name that the server keeps: it takes authority 10, or a key of its own"
    );
    Err(ProtocolError::new(ErrorCode::InsufficientAuthority, message))
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
