//! Streams of Events: of everything, of a Session, of a Task. Each is let in once, holds a place among the
//! streams, and ends when its credential does, when the server stops, or when its Task has ended.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{FromRequestParts, Request, State, WebSocketUpgrade},
    http::{HeaderMap, HeaderValue, Response, request::Parts},
};
use quipu_field::Asker;
use quipu_harness::{Caller, EventFeed, EventScope, Harness, WriteRequest};
use quipu_wire::harn::{HarnError, HarnErrorCode, IdempotencyKey, Sha256, TokenScope};
use tokio::sync::watch;

use super::{
    credentials::Bearer, entrance::HarnCall, events::filters, path::HarnPath, stream_sse,
    stream_ws, upgrade,
};
use crate::{
    limits::{STREAM_COMMAND_BYTES_MAX, STREAM_MESSAGE_BYTES_MAX},
    net::body::discard,
    pipeline::{
        harn_refusal::HarnRefused, route::Admission, state::App, stream_permits::StreamPermit,
    },
};

const LAST_EVENT_ID: &str = "last-event-id";

/// A stream that was let in, with what it needs to stay.
pub(super) struct Admitted {
    pub(super) harness: Harness,
    pub(super) caller: Caller,
    pub(super) scope: EventScope,
    pub(super) stopping: watch::Receiver<bool>,
    /// Tells of changes of the keys.
    pub(super) keys: watch::Receiver<u64>,
    pub(super) proof: Proof,
    app: Arc<App>,
    asker: Asker,
    /// The head of the request that opened it, by which its credential is looked at again.
    head: Parts,
    _place: StreamPermit,
}

/// What a stream was let in by.
pub(super) struct Proof {
    app: Arc<App>,
    headers: HeaderMap,
}

impl Proof {
    pub(super) fn holds(&self) -> bool {
        Bearer::holds(&self.app, &self.headers)
    }
}

impl Admitted {
    /// Whether the credential still holds, and is for this.
    pub(super) async fn check(&self, scope: TokenScope) -> Result<(), HarnRefused> {
        HarnCall::enter(&self.app, scope, &self.head).await.map(|_| ())
    }

    pub(super) fn heartbeat(&self) -> Duration {
        self.app.push.heartbeat
    }

    /// A feed behind an Event, or from the beginning.
    pub(super) async fn feed(&self, after: Option<&str>) -> Result<EventFeed, HarnError> {
        let opening = self.harness.feed(&self.caller, self.scope.clone(), after);
        // A WebSocket is served by another task than its request was.
        self.asker.clone().asks(opening).await
    }

    /// A command of the other side as a write.
    pub(super) fn as_write(&self, key: Option<IdempotencyKey>, digest: Sha256) -> WriteRequest {
        WriteRequest { caller: self.caller.clone(), key, digest }
    }
}

pub(super) async fn stream_events(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response<Body>, HarnRefused> {
    let (head, call) = enter(&app, request).await?;
    let scope = filters(&call);
    let after = after(&head, &call)?;
    let admitted = admit(app, head, call, scope)?;
    stream_sse::answer(admitted, after).await
}

pub(super) async fn stream_session_events(
    State(app): State<Arc<App>>,
    HarnPath(session): HarnPath<String>,
    request: Request,
) -> Result<Response<Body>, HarnRefused> {
    let (head, call) = enter(&app, request).await?;
    call.harness.check_session(&call.caller, &session)?;
    let after = after(&head, &call)?;
    let admitted = admit(app, head, call, EventScope::session(&session))?;
    stream_sse::answer(admitted, after).await
}

pub(super) async fn stream_task_events(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> Result<Response<Body>, HarnRefused> {
    let (mut head, call) = enter(&app, request).await?;
    call.harness.check_task(&call.caller, &task)?;
    let after = after(&head, &call)?;
    let scope = EventScope::task(&task);
    if !upgrade::is_upgrade(&head.headers) {
        return stream_sse::answer(admit(app, head, call, scope)?, after).await;
    }
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut head, &app).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => {
            let problem = format!("this is no opening of a WebSocket: {rejection}");
            return Err(HarnRefused::new(HarnErrorCode::InvalidRequest, problem));
        }
    };
    let chosen = upgrade::chosen(&head.headers)?;
    let admitted = admit(app, head, call, scope)?;
    let upgrade = upgrade
        .protocols(chosen)
        .max_message_size(STREAM_COMMAND_BYTES_MAX)
        .max_frame_size(STREAM_COMMAND_BYTES_MAX)
        .read_buffer_size(STREAM_MESSAGE_BYTES_MAX)
        .write_buffer_size(0);
    Ok(upgrade.on_upgrade(move |socket| stream_ws::serve(socket, admitted, task, after)))
}

async fn enter(app: &App, request: Request) -> Result<(Parts, HarnCall), HarnRefused> {
    let (head, body) = request.into_parts();
    let entered = HarnCall::enter(app, Admission::of(&head.extensions).scope(), &head).await;
    discard(&head.headers, body).await;
    Ok((head, entered?))
}

/// Where to resume: a browser that reconnects repeats its query and adds how far it came.
fn after(head: &Parts, call: &HarnCall) -> Result<Option<String>, HarnRefused> {
    let given = head.headers.get(LAST_EVENT_ID).map(HeaderValue::to_str).transpose();
    let given = given.map_err(|_| {
        let error = HarnError::new(HarnErrorCode::InvalidRequest, "Last-Event-ID: must be ASCII");
        error.at("Last-Event-ID")
    })?;
    let given = given.filter(|id| !id.is_empty());
    Ok(given.or_else(|| call.query.get("after_event_id")).map(str::to_owned))
}

fn admit(
    app: Arc<App>,
    head: Parts,
    call: HarnCall,
    scope: EventScope,
) -> Result<Admitted, HarnRefused> {
    let place = app.streams.take(call.key())?;
    let HarnCall { harness, caller, .. } = call;
    let keys = app.keys.changes();
    let proof = Proof { app: Arc::clone(&app), headers: head.headers.clone() };
    // It may have been revoked between.
    if !proof.holds() {
        return Err(stream_sse::ended().into());
    }
    Ok(Admitted {
        keys,
        proof,
        harness,
        caller,
        scope,
        stopping: app.stopping.subscribe(),
        head,
        asker: Asker::current(),
        app,
        _place: place,
    })
}
