//! The one way a message takes before its operation sees it. What is wrong is reported in this
//! order: the message itself, the key, the Field, the sender's registration and authority, and only
//! then the payload.

use std::sync::Arc;

use axum::{extract::Request, http::HeaderMap};
use quipu_core::{Message, RoleGrant};
use quipu_field::Field;
use quipu_wire::{ErrorCode, ProtocolError, akashik::Operation, json::reader::ReadError};
use serde_json::Value;

use crate::{
    limits::SMALL_BODY_BYTES,
    net::{body, rooms::TakenRoom},
    pipeline::{
        answer::Refused,
        auth,
        errors::akashik_error,
        field_choice::{self, Missing},
        route::Admission,
        sender::{self, SentMessage},
        state::App,
    },
    secrets::keys::{Credential, KeyAgent},
};

/// A message whose sender is who it says it is.
#[derive(Debug)]
pub(crate) struct Authenticated {
    headers: HeaderMap,
    credential: Credential,
    said: SentMessage,
    room: Option<TakenRoom>,
}

/// A message that an operation can work on.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) field: Arc<Field>,
    pub(crate) message: Message,
    /// Which roles the sender's key gives it.
    pub(crate) roles: RoleGrant,
    admission: Admission,
    payload: Value,
    /// The room that the body takes is given back when the call is done.
    _room: Option<TakenRoom>,
}

impl Authenticated {
    /// Reads a message and checks its key.
    pub(crate) async fn receive(
        app: &App,
        operation: Option<Operation>,
        request: Request,
    ) -> Result<Self, Refused> {
        Self::read(app, operation, request).await.map_err(|error| error.during(operation).into())
    }

    async fn read(
        app: &App,
        operation: Option<Operation>,
        request: Request,
    ) -> Result<Self, ProtocolError> {
        let (parts, body) = request.into_parts();
        let headers = parts.headers;
        let credential = auth::credential(app, &headers);
        // Who has no key is told what is wrong with a small message, and cannot make us hold more.
        let most = Admission::of(&parts.extensions).body_bytes_max;
        let limit = if credential.is_ok() { most } else { SMALL_BODY_BYTES };
        let room = app.rooms.of(credential.as_ref().map_or_else(|_| String::new(), key_of));
        let whole = match (body::read(&room, &headers, body, limit).await, &credential) {
            (Ok(whole), _) => whole,
            (Err(error), Err(unauthenticated)) if error.code == ErrorCode::PayloadTooLarge => {
                return Err(unauthenticated.clone());
            }
            (Err(error), _) => return Err(error),
        };
        // Only now, although it was known before: a connection whose body is unread must be closed.
        sender::check_content_type(&headers)?;
        let said = SentMessage::parse(operation, &headers, &whole.bytes)?;
        Ok(Self { headers, credential: credential?, said, room: whole.room })
    }
}

impl Call {
    /// Reads a message and finds out who sends it with what right to which Field.
    pub(crate) async fn receive(app: &App, request: Request) -> Result<Self, Refused> {
        let admission = Admission::of(request.extensions());
        let operation = admission.operation;
        let authenticated = Authenticated::receive(app, operation, request).await?;
        let call = Self::prepare(app, admission, authenticated).await;
        call.map_err(|error| error.during(operation).into())
    }

    async fn prepare(
        app: &App,
        admission: Admission,
        authenticated: Authenticated,
    ) -> Result<Self, ProtocolError> {
        let operation = admission.operation;
        let Authenticated { headers, credential, said, room } = authenticated;
        let agent = speaker(operation, &credential, &said)?;
        tracing::Span::current().record("agent", agent.as_str());
        let field = choose_for(app, operation, &credential, &headers).await?;
        let message = Message {
            id: said.id.unwrap_or_else(|| format!("req-{}", app.ids.next())),
            agent,
            session: said.session,
            epoch: said.epoch,
            authority: credential.authority,
            own_key: credential.is_of_one(),
            key: credential.noted_id(),
        };
        let joins = joining(operation, &said.payload);
        if joins != Some(message.agent.as_str()) {
            auth::check_name(app, &credential, &field, &message.agent)?;
        }
        // Whether who joins takes a stronger agent's name is the rule's to say: that one may leave meanwhile.
        joins.map_or(Ok(()), |agent| auth::check_kept(app, &credential, agent))?;
        app.leads.claim(&credential.key_id, field.lead_of(&message))?;
        field.meet(&message).await.map_err(|error| akashik_error(&error))?;
        let roles = credential.role_grant();
        Ok(Self { field, message, roles, admission, payload: said.payload, _room: room })
    }

    /// Checks that the sender takes part in the Field and has the authority that the payload needs.
    pub(crate) fn admit(&self) -> Result<(), Refused> {
        self.admit_with(self.admission.authority(&self.payload))
    }

    /// The same where the payload cannot say what it needs.
    pub(crate) fn admit_with(&self, authority: u8) -> Result<(), Refused> {
        self.field
            .admit(&self.message, authority)
            .map_err(|error| akashik_error(&error).during(self.admission.operation).into())
    }

    /// Reads the payload; what it says in vain comes back as warnings.
    pub(crate) fn parse<T>(
        &mut self,
        parse: impl FnOnce(Value) -> Result<(T, Vec<String>), ReadError>,
    ) -> Result<(T, Vec<String>), Refused> {
        parse(self.payload.take())
            .map_err(|error| ProtocolError::from(error).during(self.admission.operation).into())
    }
}

fn key_of(credential: &Credential) -> String {
    credential.key_id.clone()
}

/// The Field of a message. Only an operation that writes may bring one into being.
async fn choose_for(
    app: &App,
    operation: Option<Operation>,
    credential: &Credential,
    headers: &HeaderMap,
) -> Result<Arc<Field>, ProtocolError> {
    let missing = match operation {
        // What is none of the protocol's operations works on what is there.
        None | Some(Operation::Attune | Operation::Detect | Operation::Replay) => Missing::Refuse,
        Some(
            Operation::Register
            | Operation::Deregister
            | Operation::Record
            | Operation::Merge
            | Operation::Subscribe
            | Operation::Compact
            | Operation::Coordinate
            | Operation::Handoff
            | Operation::Session,
        ) => Missing::Make,
    };
    field_choice::choose(&app.fields, credential, headers, missing).await
}

/// The agent that joins by a REGISTER, which may be another one than the envelope names.
fn joining(operation: Option<Operation>, payload: &Value) -> Option<&str> {
    let joins = payload.get("id").filter(|_| operation == Some(Operation::Register));
    joins.and_then(Value::as_str)
}

/// The agent that speaks: the one that the message names, if the key may speak for it.
fn speaker(
    operation: Option<Operation>,
    credential: &Credential,
    said: &SentMessage,
) -> Result<String, ProtocolError> {
    let joins = joining(operation, &said.payload);
    let agent = match (&credential.agent, said.agent.as_deref()) {
        (_, Some("system")) => {
            let message = "agent_id: `system` is the Field's own name";
            return Err(ProtocolError::new(ErrorCode::InvalidPayload, message));
        }
        (KeyAgent::Any, Some(agent)) => agent,
        // Without an id the payload is about to be refused, with better words than we have here.
        (KeyAgent::Any, None) if operation == Some(Operation::Register) => {
            joins.unwrap_or_default()
        }
        (KeyAgent::Any, None) => {
            let message = "header Akashik-Agent: is required, for the key is no single agent's";
            return Err(ProtocolError::new(ErrorCode::InvalidPayload, message));
        }
        (KeyAgent::Named(own), named) => {
            let others = [named, joins].into_iter().flatten().find(|other| other != own);
            if let Some(other) = others {
                return Err(ProtocolError::new(
                    ErrorCode::InsufficientAuthority,
                    format!("agent_id: the key is {own}'s and cannot speak for {other}"),
                ));
            }
            own
        }
    };
    Ok(agent.to_owned())
}
