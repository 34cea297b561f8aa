//! The one way a request of this protocol takes before its resource sees it. What is wrong is reported in
//! this order: the version, the credential, its rate, its scope, the Field, the idempotency key, the body.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Method, request::Parts},
};
use quipu_harness::{Caller, Harness, WriteRequest};
use quipu_wire::{
    harn::{
        HarnError, HarnErrorCode, HarnVersion, IDEMPOTENCY_HEADER, IdempotencyKey, Sha256,
        TokenScope, VERSION_HEADER,
    },
    json::canon,
};
use serde_json::Value;

use super::{credentials::Bearer, query::HarnQuery, upgrade};
use crate::{
    limits::READ_AUTHORITY,
    net::{
        body::{self, discard},
        rooms::{Room, TakenRoom},
    },
    pipeline::{
        auth,
        field_choice::{self, Missing},
        harn_refusal::HarnRefused,
        route::Admission,
        state::App,
    },
    secrets::keys::Credential,
};

/// A request that a resource can work on.
#[derive(Debug)]
pub(crate) struct HarnCall {
    pub(crate) harness: Harness,
    pub(crate) caller: Caller,
    credential: Credential,
    pub(crate) version: HarnVersion,
    pub(crate) idempotency: Option<IdempotencyKey>,
    pub(crate) query: HarnQuery,
    method: Method,
    /// None where there is no body; a read has none in any case.
    pub(crate) body: Option<Value>,
    /// The room that the body takes is given back when the call is done.
    _room: Option<TakenRoom>,
}

impl HarnCall {
    /// Lets a request in and reads its body as JSON. Every valid credential may ask for what has no scope.
    pub(crate) async fn receive(app: &App, request: Request) -> Result<Self, HarnRefused> {
        let (parts, body) = request.into_parts();
        let scope = Admission::of(&parts.extensions).scope();
        match Self::enter(app, scope, &parts).await {
            Ok(call) => call.take_body(app, &parts, body).await,
            Err(refused) => {
                // A connection whose body is unread must be closed.
                discard(&parts.headers, body).await;
                Err(refused)
            }
        }
    }

    /// Lets a request in whose body is no JSON, or that opens a stream. WriteRequest again with the same head, it
    /// says whether the credential still holds.
    pub(crate) async fn enter(
        app: &App,
        scope: impl Into<Option<TokenScope>>,
        parts: &Parts,
    ) -> Result<Self, HarnRefused> {
        let headers = &parts.headers;
        let version = version(headers)?;
        let bearer = Bearer::identify(app, headers)?;
        if let Some(scope) = scope.into() {
            bearer.require(scope)?;
            // What it may read of what is there is found out behind; below this it is nothing.
            auth::require(&bearer.credential, READ_AUTHORITY)?;
        }
        let caller = bearer.caller(headers)?;
        tracing::Span::current().record("agent", caller.agent.as_str());
        // Looking makes nothing.
        let missing = if parts.method.is_safe() { Missing::Refuse } else { Missing::Make };
        let field = field_choice::choose(&app.fields, &bearer.credential, headers, missing).await?;
        auth::check_name(app, &bearer.credential, &field, &caller.agent)?;
        // A write is checked before it is decided, and both must rest on what all nodes wrote.
        if !parts.method.is_safe() {
            field.catch_up().await?;
        }
        Ok(Self {
            harness: app.harnesses.of(&field),
            caller,
            credential: bearer.credential,
            version,
            idempotency: IdempotencyKey::read(lines(headers, IDEMPOTENCY_HEADER))?,
            query: HarnQuery::read(&parts.uri)?,
            method: parts.method.clone(),
            body: None,
            _room: None,
        })
    }

    /// The request as a write: who asks, under which key, and the digest by which it is the same again.
    pub(crate) fn as_write(&self) -> Result<WriteRequest, HarnRefused> {
        let digest = Sha256::of_json(self.body.as_ref().unwrap_or(&Value::Null));
        let digest = digest.map_err(|error| {
            HarnRefused::new(HarnErrorCode::InvalidRequest, format!("the body: {error}"))
        })?;
        let (caller, key) = (self.caller.clone(), self.idempotency.clone());
        Ok(WriteRequest { caller, key, digest })
    }

    /// The request as that of the agent that its body names, if the credential may speak for it.
    pub(crate) fn speak_as(
        &self,
        app: &App,
        mut asked: WriteRequest,
        agent: Option<&str>,
    ) -> Result<WriteRequest, HarnRefused> {
        let Some(agent) = agent.filter(|agent| *agent != asked.caller.agent) else {
            return Ok(asked);
        };
        let refused = |code, problem: &str| HarnError::new(code, problem).at("agent_id").into();
        if self.credential.is_of_one() {
            let problem = "agent_id: the credential is another agent's";
            return Err(refused(HarnErrorCode::PermissionDenied, problem));
        }
        if agent == "system" {
            let problem = "agent_id: `system` is the Field's own name";
            return Err(refused(HarnErrorCode::InvalidRequest, problem));
        }
        auth::check_name(app, &self.credential, self.harness.field(), agent)?;
        agent.clone_into(&mut asked.caller.agent);
        Ok(asked)
    }

    /// The room for large bodies of whoever asks.
    pub(super) fn room(&self, app: &App) -> Room {
        app.rooms.of(self.credential.key_id.clone())
    }

    /// Its key, by which streams are counted.
    pub(super) fn key(&self) -> &str {
        &self.credential.key_id
    }

    /// Reads the body, whatever it says it is: the version header already keeps out what a page in a browser
    /// could send without being asked.
    async fn take_body(
        mut self,
        app: &App,
        parts: &Parts,
        body: Body,
    ) -> Result<Self, HarnRefused> {
        let (headers, admission) = (&parts.headers, Admission::of(&parts.extensions));
        if self.method.is_safe() {
            discard(headers, body).await;
            return Ok(self);
        }
        let most = admission.body_bytes_max;
        let whole = body::read(&self.room(app), headers, body, most).await?;
        if !whole.bytes.trim_ascii().is_empty() {
            self.body = Some(canon::parse(&whole.bytes).map_err(HarnError::from)?);
        }
        self._room = whole.room;
        Ok(self)
    }
}

fn version(headers: &HeaderMap) -> Result<HarnVersion, HarnError> {
    if !headers.contains_key(VERSION_HEADER)
        && let Some(version) = upgrade::version(headers)
    {
        return Ok(version);
    }
    HarnVersion::negotiate(lines(headers, VERSION_HEADER))
}

fn lines<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h [u8]> {
    headers.get_all(name).into_iter().map(|value| value.as_bytes())
}
