//! The log as it grows, over a WebSocket. Ours: for who watches a Field and writes nothing into it, such as the
//! console. A page in a browser can set no header here, so its key is among the subprotocols and its Field in
//! the query.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{
        Query, State, WebSocketUpgrade,
        rejection::QueryRejection,
        ws::{CloseFrame, Message, WebSocket, close_code, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, HeaderValue, Response, header},
};
use quipu_field::{Asker, Field, FieldError};
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{LogHead, LogPage},
};
use serde::Deserialize;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval_at},
};
use utoipa::IntoParams;

use super::push::stopped;
use crate::{
    limits::{FAREWELL, LOG_AUTHORITY, LOG_PAGE_COMMITS, STREAM_MESSAGE_BYTES_MAX},
    pipeline::{
        answer::Refused,
        auth,
        field_choice::{self, FIELD, Missing},
        route::Admission,
        state::App,
        stream_permits::StreamPermit,
    },
};

const PROTOCOL: &str = "quipu-log";
const BEARER: &str = "bearer.";

/// From where, and of which Field.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct FollowQuery {
    /// Behind this position; from now on if absent.
    after: Option<u64>,
    /// The Field, where no header can be set.
    field: Option<String>,
}

struct Follower {
    app: Arc<App>,
    field: Arc<Field>,
    asker: Asker,
    headers: HeaderMap,
    stopping: watch::Receiver<bool>,
    /// Tells of changes of the keys.
    keys: watch::Receiver<u64>,
    /// Whether it may see commits; others are only told how long the log is.
    sees_commits: bool,
    /// The last position that it was told of.
    after: u64,
    _place: StreamPermit,
}

pub(super) async fn log_follow(
    State(app): State<Arc<App>>,
    admission: Admission,
    query: Result<Query<FollowQuery>, QueryRejection>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response<Body>, Refused> {
    let Query(query) = query.map_err(|error| {
        Refused::new(ErrorCode::InvalidPayload, format!("query: {}", error.body_text()))
    })?;
    let follower = Follower::admit(app, admission, headers, query).await?;
    let upgrade = upgrade.map_err(|rejection| {
        Refused::new(ErrorCode::InvalidPayload, format!("this route speaks WebSocket: {rejection}"))
    })?;
    let upgrade = upgrade
        .protocols([PROTOCOL])
        .max_message_size(STREAM_MESSAGE_BYTES_MAX)
        .max_frame_size(STREAM_MESSAGE_BYTES_MAX)
        .write_buffer_size(0);
    Ok(upgrade.on_upgrade(move |socket| follower.serve(socket)))
}

/// What a browser said elsewhere, as the headers that it cannot set.
fn lifted(mut headers: HeaderMap, field: Option<&str>) -> Result<HeaderMap, ProtocolError> {
    let invalid = |what: &str| ProtocolError::new(ErrorCode::InvalidPayload, what.to_owned());
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter_map(|line| line.to_str().ok());
    let mut words = offered.flat_map(|line| line.split(',').map(str::trim));
    let key = words.find_map(|word| word.strip_prefix(BEARER)).map(|key| format!("Bearer {key}"));
    if let Some(key) = key
        && !headers.contains_key(header::AUTHORIZATION)
    {
        let value = HeaderValue::try_from(key).map_err(|_| invalid("subprotocol: no such key"))?;
        headers.insert(header::AUTHORIZATION, value);
    }
    if let Some(field) = field
        && !headers.contains_key(FIELD)
    {
        let value =
            HeaderValue::try_from(field).map_err(|_| invalid("query field: no such name"))?;
        headers.insert(FIELD, value);
    }
    Ok(headers)
}

impl Follower {
    async fn admit(
        app: Arc<App>,
        admission: Admission,
        headers: HeaderMap,
        query: FollowQuery,
    ) -> Result<Self, ProtocolError> {
        let headers = lifted(headers, query.field.as_deref())?;
        // Before the key is looked at, so that nothing that becomes of it later is missed.
        let keys = app.keys.changes();
        let credential = auth::credential(&app, &headers)?;
        auth::require(&credential, admission.least_authority())?;
        let field =
            field_choice::choose(&app.fields, &credential, &headers, Missing::Refuse).await?;
        let place = app.streams.take(&credential.key_id)?;
        let (head, asker) = (field.head().position, Asker::current());
        asker.keep();
        Ok(Self {
            // A log that is shorter than what was seen of it is another one; it is told from its end.
            after: query.after.map_or(head, |after| after.min(head)),
            sees_commits: credential.authority >= LOG_AUTHORITY,
            stopping: app.stopping.subscribe(),
            keys,
            asker,
            app,
            field,
            headers,
            _place: place,
        })
    }

    async fn serve(mut self, mut socket: WebSocket) {
        let Some((code, reason)) = self.follow(&mut socket).await else { return };
        let close = CloseFrame { code, reason: reason.into() };
        // Where the other side is gone already there is nobody to tell.
        if socket.send(Message::Close(Some(close))).await.is_ok() {
            let farewell = async { while let Some(Ok(_)) = socket.recv().await {} };
            tokio::time::timeout(FAREWELL, farewell).await.ok();
        }
    }

    /// Tells until it ends; without an ending where the other side went first.
    async fn follow(&mut self, socket: &mut WebSocket) -> Option<(u16, &'static str)> {
        let every: Duration = self.app.push.heartbeat;
        let mut heartbeat = interval_at(Instant::now() + every, every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut heard, mut first) = (true, true);
        loop {
            if first || self.field.head().position > self.after {
                first = false;
                let Ok(page) = self.page().await else {
                    return Some((close_code::ERROR, "failed"));
                };
                // Texts and numbers always have a JSON form.
                let text = serde_json::to_string(&page).unwrap_or_default();
                socket.send(Message::Text(text.into())).await.ok()?;
                continue;
            }
            tokio::select! {
                biased;
                () = stopped(&mut self.stopping) => return Some((close_code::AWAY, "shutdown")),
                () = auth::revoked(&mut self.keys, || auth::holds(&self.app, &self.headers)) => {
                    return Some((close_code::POLICY, "unauthenticated"));
                }
                said = socket.recv() => match said {
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                    Some(Ok(Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => heard = true,
                },
                _ = heartbeat.tick() => {
                    if !auth::holds(&self.app, &self.headers) {
                        return Some((close_code::POLICY, "unauthenticated"));
                    }
                    if !std::mem::take(&mut heard) {
                        return Some((close_code::AWAY, "no answer to a ping"));
                    }
                    socket.send(Message::Ping(Vec::new().into())).await.ok()?;
                }
                more = self.field.await_beyond(self.after) => if !more {
                    return Some((close_code::AWAY, "shutdown"));
                },
            }
        }
    }

    /// What there is behind the last position that was told.
    async fn page(&mut self) -> Result<LogPage, FieldError> {
        if self.sees_commits {
            let reading = self.field.log(self.after + 1, LOG_PAGE_COMMITS);
            let page = self.asker.clone().asks(reading).await?;
            self.after = page.commits.last().map_or(page.head.position, |last| last.position);
            return Ok(page);
        }
        let head = self.field.head();
        self.after = head.position;
        let head =
            LogHead { position: head.position, epoch: head.epoch, hash: head.hash.to_string() };
        Ok(LogPage { commits: Vec::new(), head, next_from: None })
    }
}
