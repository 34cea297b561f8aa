//! What a message says of itself: the envelope, or a bare payload with headers. Both become the same
//! thing here, and nothing behind it knows which it was.

use axum::http::{HeaderMap, header};
use quipu_core::Reader;
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{Envelope, Operation, is_envelope},
    json::{canon, reader::check_id},
    limits::SAFE_INTEGER_MAX,
};
use serde_json::Value;

use crate::secrets::keys::{Credential, KeyAgent};

pub(crate) const AGENT: &str = "akashik-agent";
pub(crate) const SESSION: &str = "akashik-session";
pub(crate) const EPOCH: &str = "akashik-epoch";
pub(crate) const MESSAGE_ID: &str = "akashik-message-id";
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

#[derive(Debug)]
pub(crate) struct SentMessage {
    pub(crate) id: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) epoch: u64,
    pub(crate) payload: Value,
}

impl SentMessage {
    /// Reads a body that was sent to an operation's route.
    pub(crate) fn parse(
        operation: Option<Operation>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Self, ProtocolError> {
        let body = canon::parse(body).map_err(|error| invalid(format!("body: {error}")))?;
        if !body.is_object() {
            let found = match &body {
                Value::Null => "null",
                Value::Array(_) => "an array",
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    "a single value"
                }
            };
            return Err(invalid(format!("body: must be a JSON object, got {found}")));
        }
        match operation {
            Some(operation) if is_envelope(&body) => enveloped(operation, body),
            None if is_envelope(&body) => {
                Err(invalid("body: this route is ours and takes the bare payload".to_owned()))
            }
            Some(_) | None => bare(headers, body),
        }
    }
}

fn enveloped(operation: Operation, body: Value) -> Result<SentMessage, ProtocolError> {
    let envelope = Envelope::parse(body)?;
    if envelope.operation != operation {
        let (said, route) = (envelope.operation, operation.path());
        return Err(invalid(format!(
            "envelope.operation: {said} was sent to {route}; its route is {}",
            said.path()
        )));
    }
    Ok(SentMessage {
        id: Some(envelope.id),
        agent: Some(envelope.agent_id),
        session: envelope.session_id,
        epoch: envelope.epoch,
        payload: envelope.payload,
    })
}

fn bare(headers: &HeaderMap, payload: Value) -> Result<SentMessage, ProtocolError> {
    let id = match id_header(headers, MESSAGE_ID)? {
        Some(id) => Some(id),
        None => id_header(headers, IDEMPOTENCY_KEY)?,
    };
    Ok(SentMessage {
        id,
        agent: id_header(headers, AGENT)?,
        session: id_header(headers, SESSION)?,
        epoch: epoch_header(headers)?,
        payload,
    })
}

/// A header's text. Unlike HTTP's own headers, ours may hold any UTF-8, as ids may.
pub(crate) fn text_header<'h>(
    headers: &'h HeaderMap,
    name: &str,
) -> Result<Option<&'h str>, ProtocolError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let text = std::str::from_utf8(value.as_bytes());
    text.map(Some).map_err(|_| invalid(format!("header {name}: must be UTF-8")))
}

fn id_header(headers: &HeaderMap, name: &str) -> Result<Option<String>, ProtocolError> {
    let Some(text) = text_header(headers, name)? else { return Ok(None) };
    check_id(text).map_err(|problem| invalid(format!("header {name}: {problem}")))?;
    Ok(Some(text.to_owned()))
}

/// Who reads by a GET: the agent that the headers name, if the key may speak for it, else the key's
/// own.
pub(crate) fn reader(
    headers: &HeaderMap,
    credential: &Credential,
) -> Result<Reader, ProtocolError> {
    let named = id_header(headers, AGENT)?;
    let agent = match &credential.agent {
        KeyAgent::Any => named,
        KeyAgent::Named(own) => {
            if let Some(other) = named.filter(|other| other != own) {
                return Err(ProtocolError::new(
                    ErrorCode::InsufficientAuthority,
                    format!("header {AGENT}: the key is {own}'s and cannot speak for {other}"),
                ));
            }
            Some(own.clone())
        }
    };
    let (session, authority) = (id_header(headers, SESSION)?, credential.authority);
    Ok(Reader { agent, session, authority, everywhere: false })
}

fn epoch_header(headers: &HeaderMap) -> Result<u64, ProtocolError> {
    let Some(text) = text_header(headers, EPOCH)? else { return Ok(0) };
    text.trim().parse().ok().filter(|epoch| *epoch <= SAFE_INTEGER_MAX).ok_or_else(|| {
        invalid(format!("header {EPOCH}: must be an integer from 0 to 2^53 - 1, got {text:?}"))
    })
}

/// Refuses a body that says it is something else than JSON.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), ProtocolError> {
    // Required, so that a page in a browser cannot send it to a server on loopback without being asked.
    let value = headers.get(header::CONTENT_TYPE);
    let text = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    if json && parts.all(is_utf8_or_no_charset) {
        return Ok(());
    }
    let message = format!("Content-Type: must be application/json, got {text:?}");
    Err(ProtocolError::new(ErrorCode::UnsupportedMediaType, message))
}

fn is_utf8_or_no_charset(parameter: &str) -> bool {
    match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    }
}

fn invalid(message: String) -> ProtocolError {
    ProtocolError::new(ErrorCode::InvalidPayload, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn is_json(content_type: &'static str) -> bool {
        let value = HeaderValue::from_static(content_type);
        check_content_type(&HeaderMap::from_iter([(header::CONTENT_TYPE, value)])).is_ok()
    }

    #[test]
    fn json_in_utf8_is_the_only_content_type() {
        assert!(check_content_type(&HeaderMap::new()).is_err());
        for good in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;charset=\"utf-8\"",
        ] {
            assert!(is_json(good), "{good}");
        }
        for bad in ["text/plain", "application/jsonp", "application/json; charset=utf-16", ""] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}
