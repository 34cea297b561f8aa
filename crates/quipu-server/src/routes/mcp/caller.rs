//! Answers the calls of `quipu-mcp` in process, with the caller's own key and by the same routes as if
//! they had come over the network.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header},
};
use http_body_util::BodyExt as _;
use quipu_mcp::{Answer, Call, CallFailed, Caller, Presented, PushPosition, PushReader, Verb};
use quipu_wire::akashik::{Envelope, PushNotification};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{
    pipeline::{
        auth,
        entrance::Entrance,
        field_choice::FIELD,
        request_id::REQUEST_ID,
        sender::{AGENT, SESSION},
        state::App,
    },
    secrets::keys::KeyAgent,
};

/// How many pushes wait for a client before the stream does.
const PUSHES_MAX: usize = 16;

/// The way from a tool call to the routes.
#[derive(Debug)]
pub(super) struct InProcess {
    app: Arc<App>,
    entrance: Entrance,
}

impl InProcess {
    /// Calls whatever `entrance` leads to.
    pub(super) const fn new(app: Arc<App>, entrance: Entrance) -> Self {
        Self { app, entrance }
    }

    fn request(&self, call: Call) -> Result<Request<Body>, CallFailed> {
        let mut headers = HeaderMap::new();
        let Presented { authorization, field, request_id, .. } = &call.presented;
        put(&mut headers, header::AUTHORIZATION, authorization.as_deref())?;
        put(&mut headers, HeaderName::from_static(FIELD), field.as_deref())?;
        put(&mut headers, REQUEST_ID, request_id.as_deref())?;
        let (method, path, body) = match call.verb {
            Verb::Operate(operation, payload) => {
                let id = format!("mcp-{}", self.app.ids.next());
                let agent = call.agent.unwrap_or_default();
                let mut envelope = Envelope::new(id, operation, agent, payload);
                envelope.session_id = call.session;
                let json = HeaderValue::from_static("application/json");
                headers.insert(header::CONTENT_TYPE, json);
                let body = serde_json::to_vec(&envelope).map_err(failed)?;
                (Method::POST, operation.path().to_owned(), Body::from(body))
            }
            Verb::Read(path) => {
                put(&mut headers, HeaderName::from_static(AGENT), call.agent.as_deref())?;
                put(&mut headers, HeaderName::from_static(SESSION), call.session.as_deref())?;
                (Method::GET, path, Body::empty())
            }
        };
        let mut request = Request::builder().method(method).uri(path).body(body).map_err(failed)?;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, text: Option<&str>) -> Result<(), CallFailed> {
    if let Some(text) = text {
        headers.insert(name, HeaderValue::from_bytes(text.as_bytes()).map_err(failed)?);
    }
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> CallFailed {
    CallFailed(error.to_string())
}

impl Caller for InProcess {
    async fn call(&self, call: Call) -> Result<Answer, CallFailed> {
        let request = self.request(call)?;
        let response = match self.entrance.serve(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.map_err(failed)?.to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Ok(Answer { status, body })
    }

    async fn follow(
        &self,
        presented: &Presented,
        agent: &str,
        from: PushPosition<'_>,
    ) -> Result<mpsc::Receiver<PushNotification>, CallFailed> {
        let (presented, agent) = (presented.clone(), Some(agent.to_owned()));
        let verb = Verb::Read(from.path());
        let request = self.request(Call { presented, agent, session: None, verb })?;
        let response = match self.entrance.serve(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        if !response.status().is_success() {
            return Err(CallFailed(format!("the stream was refused: {}", response.status())));
        }
        let (sender, receiver) = mpsc::channel(PUSHES_MAX);
        tokio::spawn(pass_on(response.into_body(), sender));
        Ok(receiver)
    }

    async fn bound_agent(&self, presented: &Presented) -> Option<String> {
        let mut headers = HeaderMap::new();
        put(&mut headers, header::AUTHORIZATION, presented.authorization.as_deref()).ok()?;
        match auth::uncounted_credential(&self.app, &headers).ok()?.agent {
            KeyAgent::Any => None,
            KeyAgent::Named(agent) => Some(agent),
        }
    }
}

/// Passes pushes on until the stream ends or nobody listens any more.
async fn pass_on(mut stream: Body, pushes: mpsc::Sender<PushNotification>) {
    let mut reader = PushReader::default();
    loop {
        let frame = tokio::select! {
            frame = stream.frame() => frame,
            () = pushes.closed() => return,
        };
        let Some(Ok(frame)) = frame else { return };
        for push in frame.data_ref().map(|bytes| reader.read(bytes)).unwrap_or_default() {
            if pushes.send(push).await.is_err() {
                return;
            }
        }
    }
}
