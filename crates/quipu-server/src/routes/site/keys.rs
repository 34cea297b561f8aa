//! Keys over HTTP: who a key is, and, for the operator, making and revoking them. Ours.

use std::sync::Arc;

use axum::{
    extract::{Path, Request, State},
    http::HeaderMap,
};
use quipu_field::with_causes;
use quipu_log::FieldName;
use quipu_wire::{
    ErrorCode, ProtocolError,
    json::{
        canon,
        reader::{ObjectReader, ReadError},
    },
    limits::AUTHORITY_MAX,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    limits::KEY_LABEL_BYTES_MAX,
    net::body::{self, discard},
    pipeline::{
        answer::{Answer, Outcome, Refused},
        auth,
        route::Admission,
        sender::check_content_type,
        state::App,
    },
    secrets::keys::{Credential, KeyAgent, KeyInfo, KeyStoreError, NewKey},
};

/// Whose key it is and what it may do.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Whoami {
    /// The key's id.
    key_id: String,
    /// The agent that it speaks for; `*` for any.
    agent: String,
    /// What it may do, 0 to 10.
    authority: u8,
    /// The only Field it is good for.
    field: Option<String>,
    /// The roles that it gives to the agents that speak through it.
    roles: Vec<String>,
    /// Whether the server asks nobody for a key.
    dev: bool,
}

/// A key without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Key {
    /// Names the key; part of the secret's text.
    id: String,
    /// The agent that it speaks for; `*` for any.
    agent: String,
    /// What it may do, 0 to 10.
    authority: u8,
    /// The only Field it is good for.
    field: Option<String>,
    /// A note for the operator.
    label: Option<String>,
    /// The roles that it gives to the agents that speak through it.
    roles: Vec<String>,
    /// When it was made, in milliseconds since 1970.
    created_at_ms: u64,
    /// When it was revoked. A revoked key stays listed.
    revoked_at_ms: Option<u64>,
}

/// All keys.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct KeyList {
    /// In the order of their making.
    keys: Vec<Key>,
}

/// What a new key is to be.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the body; it is read strictly, by name")]
pub(super) struct CreateKey {
    /// The agent that it speaks for; `*`, any, if absent.
    agent: Option<String>,
    /// What it may do, 0 to 10.
    authority: u8,
    /// The only Field it is good for.
    field: Option<String>,
    /// A note for the operator.
    label: Option<String>,
    /// The roles that it gives to the agents that speak through it; none if absent.
    roles: Option<Vec<String>>,
}

/// A key that was just made.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CreatedKey {
    /// The key.
    key: Key,
    /// What the caller sends. It is stored nowhere and cannot be shown again.
    secret: String,
}

impl From<KeyInfo> for Key {
    fn from(info: KeyInfo) -> Self {
        Self {
            id: info.id,
            agent: info.agent.into(),
            authority: info.authority,
            field: info.field.map(|field| field.to_string()),
            label: info.label,
            roles: info.roles,
            created_at_ms: info.created_at_ms,
            revoked_at_ms: info.revoked_at_ms,
        }
    }
}

pub(super) async fn whoami(State(app): State<Arc<App>>, headers: HeaderMap) -> Outcome<Whoami> {
    let Credential { key_id, agent, authority, field, roles } = auth::credential(&app, &headers)?;
    let field = field.map(|field| field.to_string());
    Ok(Answer(Whoami { key_id, agent: agent.into(), authority, field, roles, dev: app.dev }))
}

pub(super) async fn keys(
    State(app): State<Arc<App>>,
    admission: Admission,
    headers: HeaderMap,
) -> Outcome<KeyList> {
    operator(&app, admission, &headers)?;
    let keys = stored(app, |app| app.keys.list()).await?;
    Ok(Answer(KeyList { keys: keys.into_iter().map(Key::from).collect() }))
}

pub(super) async fn create_key(
    State(app): State<Arc<App>>,
    admission: Admission,
    request: Request,
) -> Outcome<CreatedKey> {
    let (parts, body) = request.into_parts();
    let allowed =
        check_content_type(&parts.headers).and_then(|()| operator(&app, admission, &parts.headers));
    let credential = match allowed {
        Ok(credential) => credential,
        Err(refused) => {
            // A connection whose body is unread must be closed.
            discard(&parts.headers, body).await;
            return Err(refused.into());
        }
    };
    let room = app.rooms.of(credential.key_id);
    let whole = body::read(&room, &parts.headers, body, admission.body_bytes_max).await?;
    let invalid = |error: canon::ParseError| {
        ProtocolError::new(ErrorCode::InvalidPayload, format!("body: {error}"))
    };
    let new =
        read_new(canon::parse(&whole.bytes).map_err(invalid)?).map_err(ProtocolError::from)?;
    let issued = stored(app, move |app| app.keys.create(new)).await?;
    Ok(Answer(CreatedKey { key: issued.info.into(), secret: issued.secret }))
}

pub(super) async fn revoke_key(
    State(app): State<Arc<App>>,
    admission: Admission,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Outcome<KeyList> {
    operator(&app, admission, &headers)?;
    let keys = stored(app, move |app| {
        app.keys.revoke(&id)?;
        app.keys.list()
    });
    Ok(Answer(KeyList { keys: keys.await?.into_iter().map(Key::from).collect() }))
}

/// The operator of the whole server: a key that is bound to a Field or an agent is not.
fn operator(
    app: &App,
    admission: Admission,
    headers: &HeaderMap,
) -> Result<Credential, ProtocolError> {
    let credential = auth::credential(app, headers)?;
    auth::require(&credential, admission.least_authority())?;
    if auth::is_operator(&credential) {
        return Ok(credential);
    }
    let message = "keys are made and revoked with a key that is bound to no agent and no Field";
    Err(ProtocolError::new(ErrorCode::InsufficientAuthority, message))
}

fn read_new(body: Value) -> Result<NewKey, ReadError> {
    let mut object = ObjectReader::new("body", body)?;
    let agent = object.take_id("agent")?.unwrap_or_else(|| "*".to_owned());
    let authority = object
        .take_integer("authority")?
        .ok_or_else(|| object.refuse("authority", "is required"))?;
    let authority = u8::try_from(authority).ok().filter(|authority| *authority <= AUTHORITY_MAX);
    let authority = authority.ok_or_else(|| object.refuse("authority", "must be from 0 to 10"))?;
    let field = object.take_id("field")?.map(|name| FieldName::try_from(name.as_str()));
    let field = field.transpose().map_err(|error| object.refuse("field", error.to_string()))?;
    let label = object.take_text("label", KEY_LABEL_BYTES_MAX)?;
    let label = label.filter(|label| !label.trim().is_empty());
    let roles = object.take_texts("roles")?;
    Ok(NewKey { agent: KeyAgent::from(agent), authority, field, label, roles })
}

/// Works on the file of keys, on a thread that serves no sockets.
pub(super) async fn stored<T: Send + 'static>(
    app: Arc<App>,
    work: impl FnOnce(&App) -> Result<T, KeyStoreError> + Send + 'static,
) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(move || work(&app)).await.map_err(|error| {
        Refused::new(ErrorCode::InternalError, format!("the keys failed: {error}"))
    })?;
    done.map_err(|error| match error {
        KeyStoreError::Agent { .. }
        | KeyStoreError::Role { .. }
        | KeyStoreError::Authority { .. } => {
            Refused::new(ErrorCode::InvalidPayload, error.to_string())
        }
        KeyStoreError::ReadShared(_) | KeyStoreError::WriteShared(_) => {
            tracing::error!(error = with_causes(&error), "the keys could not be used");
            let what = "the keys could not be read or written beside the log: try again";
            Refused::new(ErrorCode::FieldUnavailable, what)
        }
        KeyStoreError::Read { .. } | KeyStoreError::Write { .. } | KeyStoreError::Thread(_) => {
            tracing::error!(error = with_causes(&error), "the keys could not be used");
            Refused::new(ErrorCode::InternalError, "the keys could not be read or written")
        }
    })
}
