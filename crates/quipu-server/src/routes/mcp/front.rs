//! The way in to `/mcp`: who may come in, how much it may bring, and which session is whose. What the
//! messages mean is `quipu-mcp`'s.

use std::sync::{Arc, Weak};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header, request::Parts},
    response::IntoResponse as _,
    routing::any,
};
use http_body_util::Full;
use quipu_mcp::{Endpoint, EndpointOptions, Handler, HandlerOptions};
use quipu_wire::limits::REQUEST_BYTES_MAX;
use serde_json::{Value, json};

use super::{caller::InProcess, held_stream::HeldStream, sessions::Sessions};
use crate::{
    limits::{KEY_BODIES_BYTES_MAX, LARGE_BODIES_BYTES_MAX, MCP_SESSION_IDLE},
    net::{body, hosts, rooms::Rooms},
    pipeline::{
        answer::{Refused, respond},
        auth,
        entrance::Entrance,
        request_id::{self, REQUEST_ID},
        state::App,
        stream_permits::StreamPermit,
    },
    routes::all,
    secrets::keys::Credential,
};

pub(crate) const PATH: &str = "/mcp";
const SESSION_ID: &str = "mcp-session-id";
/// The method of a message, in its head; that it says the truth is checked.
const METHOD: &str = "mcp-method";

/// What serves `/mcp`.
#[derive(Debug)]
struct Front {
    app: Arc<App>,
    endpoint: Arc<Endpoint<InProcess>>,
    sessions: Sessions,
    /// Room for large messages. It is another one than that of the routes: a message waits there for
    /// room while it has it here.
    rooms: Rooms<String>,
}

/// The way in to all routes, `/mcp` among them.
pub(crate) fn entrance(app: Arc<App>) -> Entrance {
    let routes = all::router(Arc::clone(&app));
    let caller = InProcess::new(
        Arc::clone(&app),
        Entrance::new(Arc::clone(&app), routes.clone(), all::paths()),
    );
    let options = EndpointOptions {
        session_idle: MCP_SESSION_IDLE,
        heartbeat: app.push.heartbeat,
        message_bytes_max: REQUEST_BYTES_MAX,
    };
    let handler = Handler::new(caller, HandlerOptions::default());
    let endpoint = Arc::new(Endpoint::new(handler, &options));
    stop_with(&app, Arc::downgrade(&endpoint));
    let front = Arc::new(Front {
        app: Arc::clone(&app),
        endpoint,
        sessions: Sessions::default(),
        rooms: Rooms::new(LARGE_BODIES_BYTES_MAX, KEY_BODIES_BYTES_MAX),
    });
    Entrance::new(app, routes.route(PATH, any(serve).with_state(front)), all::paths())
}

/// Streams end when the server stops, or it would wait for them.
fn stop_with(app: &App, endpoint: Weak<Endpoint<InProcess>>) {
    let mut stopping = app.stopping.subscribe();
    tokio::spawn(async move {
        // An error means that the server is gone altogether.
        stopping.wait_for(|stopping| *stopping).await.ok();
        if let Some(endpoint) = endpoint.upgrade() {
            endpoint.stop();
        }
    });
}

async fn serve(State(front): State<Arc<Front>>, request: Request) -> Response<Body> {
    front.answer(request).await.unwrap_or_else(|refused| refused.into_response())
}

impl Front {
    async fn answer(&self, request: Request) -> Result<Response<Body>, Refused> {
        let (mut parts, body) = request.into_parts();
        if !hosts::are_allowed(&parts.headers, &parts.uri, &self.app.public_url) {
            body::discard(&parts.headers, body).await;
            return Ok(forbidden());
        }
        let credential = match auth::credential(&self.app, &parts.headers) {
            Ok(credential) => credential,
            Err(error) => {
                body::discard(&parts.headers, body).await;
                return Err(error.into());
            }
        };
        let session = text(&parts.headers, SESSION_ID);
        if let Some(id) =
            session.as_deref().filter(|id| !self.sessions.may_use(id, &credential.key_id))
        {
            tracing::debug!(id, "a session of MCP was asked for with another key");
            body::discard(&parts.headers, body).await;
            return Ok(message(StatusCode::NOT_FOUND, -32001, "Session not found"));
        }
        let room = self.rooms.of(credential.key_id.clone());
        let whole = body::read(&room, &parts.headers, body, REQUEST_BYTES_MAX).await?;
        let place = self.stream_permit(&parts, &credential)?;
        // Its messages are worked on by other tasks, which know the id from here.
        if let Some(id) = request_id::current().and_then(|id| HeaderValue::try_from(id).ok()) {
            parts.headers.insert(REQUEST_ID, id);
        }
        let (method, headers) = (parts.method.clone(), parts.headers.clone());
        let request = Request::from_parts(parts, Full::new(whole.bytes.clone()));
        let response = self.endpoint.serve(request).await;
        if let (&Method::DELETE, Some(id)) = (&method, &session) {
            self.sessions.remove(id);
        }
        self.note_session(&credential, session.is_some(), response.headers()).await;
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json(&headers) {
            return Ok(unreadable(&whole.bytes));
        }
        Ok(match place {
            None => response.map(Body::new),
            Some(place) => {
                let app = Arc::clone(&self.app);
                response.map(|body| Body::new(HeldStream::new(body, app, headers, place)))
            }
        })
    }

    /// A place for a stream, if the request opens one that stays.
    fn stream_permit(
        &self,
        parts: &Parts,
        credential: &Credential,
    ) -> Result<Option<StreamPermit>, Refused> {
        let stays = parts.method == Method::GET
            || text(&parts.headers, METHOD).as_deref() == Some("subscriptions/listen");
        if !stays {
            return Ok(None);
        }
        Ok(Some(self.app.streams.take(&credential.key_id)?))
    }

    async fn note_session(&self, credential: &Credential, had_one: bool, headers: &HeaderMap) {
        let Some(id) = text(headers, SESSION_ID).filter(|_| !had_one) else { return };
        for ended in self.sessions.add(id, &credential.key_id) {
            self.endpoint.end_session(&ended).await;
        }
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| kind.starts_with(b"application/json"))
}

fn forbidden() -> Response<Body> {
    let problem = "Forbidden: this server does not answer to that Host or Origin";
    message(StatusCode::FORBIDDEN, -32600, problem)
}

/// What is said of a body that is no message.
fn unreadable(bytes: &[u8]) -> Response<Body> {
    match serde_json::from_slice::<Value>(bytes) {
        Err(error) => message(StatusCode::BAD_REQUEST, -32700, &format!("Parse error: {error}")),
        Ok(_) => {
            let problem = "Invalid Request: the body is no JSON-RPC message of MCP";
            message(StatusCode::BAD_REQUEST, -32600, problem)
        }
    }
}

fn message(status: StatusCode, code: i32, problem: &str) -> Response<Body> {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": problem}});
    respond(status, error.to_string().into_bytes())
}
