//! Which Field a request is for: the one its key is bound to, or the one it names, or `default`; and
//! whether the caller may bring it into being.

use std::sync::Arc;

use axum::http::HeaderMap;
use quipu_field::{Field, Fields, with_causes};
use quipu_log::{EngineError, FieldName};
use quipu_wire::{ErrorCode, ProtocolError};

use crate::{
    limits::{CREATE_FIELD_AUTHORITY, FIELDS_IN_USE_MAX},
    pipeline::{position, sender::text_header},
    secrets::keys::Credential,
};

pub(crate) const FIELD: &str = "quipu-field";

/// What becomes of a Field that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is made, if the key may.
    Make,
    /// It is an error: looking makes nothing.
    Refuse,
}

/// Finds the Field of a request, opens it if it is not open yet, and waits until it is where the caller has been.
pub(crate) async fn choose(
    fields: &Fields,
    credential: &Credential,
    headers: &HeaderMap,
    missing: Missing,
) -> Result<Arc<Field>, ProtocolError> {
    let field = find(fields, credential, headers, missing).await?;
    position::arrive(&field, headers).await?;
    Ok(field)
}

/// The same for a caller that is told nothing of where the Field is.
pub(crate) async fn find(
    fields: &Fields,
    credential: &Credential,
    headers: &HeaderMap,
    missing: Missing,
) -> Result<Arc<Field>, ProtocolError> {
    let name = name(credential, headers)?;
    if let Some(field) = fields.get(&name) {
        return Ok(field);
    }
    find_or_make(fields, credential, &name, missing).await
}

fn name(credential: &Credential, headers: &HeaderMap) -> Result<FieldName, ProtocolError> {
    let asked = match text_header(headers, FIELD)? {
        None => None,
        Some(text) => Some(FieldName::try_from(text).map_err(|error| {
            ProtocolError::new(ErrorCode::InvalidPayload, format!("header Quipu-Field: {error}"))
        })?),
    };
    match (&credential.field, asked) {
        (Some(bound), Some(asked)) if *bound != asked => Err(ProtocolError::new(
            ErrorCode::InsufficientAuthority,
            format!("header Quipu-Field: the key is for {bound} alone, not for {asked}"),
        )),
        (Some(bound), _) => Ok(bound.clone()),
        (None, Some(asked)) => Ok(asked),
        (None, None) => Ok(FieldName::default_field()),
    }
}

async fn find_or_make(
    fields: &Fields,
    credential: &Credential,
    name: &FieldName,
    missing: Missing,
) -> Result<Arc<Field>, ProtocolError> {
    if fields.open_count() >= FIELDS_IN_USE_MAX && !fields.make_room().await {
        let message = format!("{FIELDS_IN_USE_MAX} Fields are in use already");
        return Err(ProtocolError::new(ErrorCode::Overloaded, message));
    }
    if let Some(field) = fields.find(name).await.map_err(|error| unavailable(name, &error))? {
        return Ok(field);
    }
    let may_make =
        credential.authority >= CREATE_FIELD_AUTHORITY || credential.field.as_ref() == Some(name);
    if missing == Missing::Refuse || !may_make {
        let message = format!("header Quipu-Field: there is no Field {name}");
        return Err(ProtocolError::new(ErrorCode::FieldNotFound, message));
    }
    fields.open(name).await.map_err(|error| unavailable(name, &error))
}

fn unavailable(name: &FieldName, error: &EngineError) -> ProtocolError {
    tracing::error!(field = %name, error = with_causes(error), "a Field could not be opened");
    let message = format!("Field {name} cannot be opened: {error}");
    let code = if matches!(error, EngineError::Full) {
        ErrorCode::StorageFull
    } else {
        ErrorCode::FieldUnavailable
    };
    ProtocolError::new(code, message)
}
