//! What a subscription pushes, as server-sent events and over a WebSocket. Both ask the Field for what
//! is next when the other side has room for it, and end in order when the server stops.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{
        Path, Query, State, WebSocketUpgrade, rejection::QueryRejection,
        ws::rejection::WebSocketUpgradeRejection,
    },
    http::{HeaderMap, HeaderValue, Response, header},
};
use quipu_field::push::PushStream;
use quipu_wire::{ErrorCode, ProtocolError, akashik::Operation};
use tokio::sync::watch;

use super::{push_sse::Events, push_ws};
use crate::{
    limits::STREAM_MESSAGE_BYTES_MAX,
    pipeline::{
        answer::Refused,
        auth,
        errors::akashik_error,
        field_choice::{self, Missing},
        sender::text_header,
        state::App,
        stream_permits::StreamPermit,
    },
    secrets::keys::{Credential, KeyAgent},
};

const LAST_EVENT_ID: &str = "last-event-id";

/// The queries of both routes.
type AnyQuery = Result<Query<HashMap<String, String>>, QueryRejection>;

/// A stream that was let in, with what it needs to stay.
pub(super) struct Admitted {
    pub(super) stream: PushStream,
    pub(super) stopping: watch::Receiver<bool>,
    app: Arc<App>,
    /// Tells of changes of the keys.
    pub(super) keys: watch::Receiver<u64>,
    pub(super) proof: Proof,
    _place: StreamPermit,
}

impl Admitted {
    async fn open(
        app: Arc<App>,
        id: &str,
        asked: AnyQuery,
        headers: &HeaderMap,
    ) -> Result<Self, Refused> {
        let opened = Self::try_open(app, id, asked, headers).await;
        opened.map_err(|error| error.during(Operation::Subscribe).into())
    }

    async fn try_open(
        app: Arc<App>,
        id: &str,
        asked: AnyQuery,
        headers: &HeaderMap,
    ) -> Result<Self, ProtocolError> {
        // Before the key is looked at, so that nothing that becomes of it later is missed.
        let keys = app.keys.changes();
        let credential = auth::credential(&app, headers)?;
        let field =
            field_choice::choose(&app.fields, &credential, headers, Missing::Refuse).await?;
        let invalid = |message: String| ProtocolError::new(ErrorCode::InvalidPayload, message);
        let Query(query) = asked.map_err(|rejection| invalid(format!("query: {rejection}")))?;
        // A browser that resumes repeats the query of the first time and adds how far it came.
        let resumed = text_header(headers, LAST_EVENT_ID)?.filter(|id| !id.is_empty());
        let after = resumed.or_else(|| query.get("after").map(String::as_str));
        let place = app.streams.take(&credential.key_id)?;
        let stream = field.pushes(speaker(&credential), credential.authority, id, after).await;
        let stream = stream.map_err(|error| akashik_error(&error))?;
        // An agent keeps its authority as long as its subscriptions live, so this holds for the whole stream.
        auth::check_name(&app, &credential, &field, stream.agent())?;
        let stopping = app.stopping.subscribe();
        let key = headers.get(header::AUTHORIZATION).cloned();
        let key = key.map(|key| (header::AUTHORIZATION, key));
        let proof = Proof { app: Arc::clone(&app), headers: HeaderMap::from_iter(key) };
        Ok(Self { stream, stopping, keys, proof, app, _place: place })
    }

    /// How often to say that the stream is there.
    pub(super) fn heartbeat(&self) -> Duration {
        self.app.push.heartbeat
    }

    pub(super) fn cursor(&self) -> String {
        self.stream.cursor().to_string()
    }
}

/// The key of a stream.
#[derive(Clone)]
pub(super) struct Proof {
    app: Arc<App>,
    headers: HeaderMap,
}

impl Proof {
    /// Whether the key still holds: one that was revoked is told nothing more.
    pub(super) fn holds(&self) -> bool {
        auth::holds(&self.app, &self.headers)
    }
}

/// Waits until the server stops.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error means that the server is gone altogether.
    stopping.wait_for(|stopping| *stopping).await.ok();
}

/// The only agent whose subscriptions the caller may see, or any.
fn speaker(credential: &Credential) -> Option<&str> {
    match &credential.agent {
        KeyAgent::Any => None,
        KeyAgent::Named(agent) => Some(agent),
    }
}

pub(super) async fn push_events(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asked: AnyQuery,
    headers: HeaderMap,
) -> Result<Response<Body>, Refused> {
    let admitted = Admitted::open(app, &id, asked, &headers).await?;
    let mut response = Response::new(Body::new(Events::new(admitted)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

pub(super) async fn push_websocket(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asked: AnyQuery,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response<Body>, Refused> {
    let admitted = Admitted::open(app, &id, asked, &headers).await?;
    let upgrade = upgrade.map_err(|rejection| {
        Refused::new(ErrorCode::InvalidPayload, format!("this route speaks WebSocket: {rejection}"))
    })?;
    let upgrade = upgrade
        .max_message_size(STREAM_MESSAGE_BYTES_MAX)
        .max_frame_size(STREAM_MESSAGE_BYTES_MAX)
        .read_buffer_size(STREAM_MESSAGE_BYTES_MAX)
        .write_buffer_size(0);
    Ok(upgrade.on_upgrade(move |socket| push_ws::serve(socket, admitted)))
}
