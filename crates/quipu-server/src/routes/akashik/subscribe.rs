//! SUBSCRIBE over HTTP (spec 3.7): the operation itself, and where its pushes are to be had.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
};
use quipu_wire::akashik::{Operation, SubscribeAction, SubscribePayload, SubscribeResponse};

use crate::pipeline::{
    answer::{Answer, Outcome},
    errors::During,
    request::Call,
    state::App,
};

pub(super) async fn subscribe(
    State(app): State<Arc<App>>,
    request: Request,
) -> Outcome<SubscribeResponse> {
    let address = OwnAddress::of(request.headers(), app.secure);
    let mut call = Call::receive(&app, request).await?;
    call.admit()?;
    let (payload, warnings) = call.parse(SubscribePayload::parse)?;
    let is_new = payload.action == SubscribeAction::Subscribe;
    let mut response =
        call.field.subscribe(call.message, payload).await.during(Operation::Subscribe)?;
    if let (true, Some(made)) = (is_new, &response.subscription) {
        let path =
            |kind: &str| format!("/v1/subscriptions/{}/{kind}?after={}", made.id, made.cursor);
        let (sse_url, websocket_url) =
            (address.url("http", &path("events")), address.url("ws", &path("ws")));
        (response.sse_url, response.websocket_url) = (Some(sse_url), Some(websocket_url));
    }
    response.warnings.extend(warnings);
    Ok(Answer(response))
}

/// Where the caller reached us, as far as it says.
struct OwnAddress {
    host: Option<String>,
    secure: bool,
}

impl OwnAddress {
    fn of(headers: &HeaderMap, secure: bool) -> Self {
        let plain =
            |host: &&str| host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.:[]_".contains(&b));
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let forwarded = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
        let host = host.filter(|host| !host.is_empty()).filter(plain).map(str::to_owned);
        Self { host, secure: secure || forwarded }
    }

    /// A whole URL, or its path where the caller named no host.
    fn url(&self, scheme: &str, path: &str) -> String {
        let Some(host) = &self.host else { return path.to_owned() };
        let s = if self.secure { "s" } else { "" };
        format!("{scheme}{s}://{host}{path}")
    }
}
