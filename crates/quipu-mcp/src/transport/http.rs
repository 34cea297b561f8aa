//! MCP over streamable HTTP: with sessions for clients up to 2025-11-25, without for clients of 2026-07-28. The
//! server that mounts it has to check keys, sizes and origins first.

use std::{convert::Infallible, fmt, sync::Arc, time::Duration};

use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::{
    SessionManager as _, StreamableHttpServerConfig, StreamableHttpService,
    session::local::LocalSessionManager,
};
use tower_service::Service as _;

use crate::{caller::Caller, handler::Handler};

#[derive(Debug, Clone)]
pub struct EndpointOptions {
    pub session_idle: Duration,
    /// The interval at which an idle stream sends a keep-alive.
    pub heartbeat: Duration,
    pub message_bytes_max: usize,
}

/// The endpoint at `/mcp`.
pub struct Endpoint<C: Caller> {
    service: StreamableHttpService<Handler<C>, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
}

impl<C: Caller> fmt::Debug for Endpoint<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

impl<C: Caller> Endpoint<C> {
    /// An endpoint whose clients are served by handlers like this one.
    #[must_use]
    pub fn new(handler: Handler<C>, options: &EndpointOptions) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(options.session_idle);
        let sessions = Arc::new(sessions);
        let config = StreamableHttpServerConfig::default()
            .with_sse_keep_alive(Some(options.heartbeat))
            .with_json_response(true)
            .with_max_request_body_bytes(options.message_bytes_max)
            // The server that mounts this endpoint checks hosts and origins.
            .disable_allowed_hosts();
        let each = move || Ok(handler.another());
        let service = StreamableHttpService::new(each, Arc::clone(&sessions), config);
        Self { service, sessions }
    }

    pub async fn serve<B>(&self, request: Request<B>) -> Response<BoxBody<bytes::Bytes, Infallible>>
    where
        B: http_body::Body<Data: Send, Error: fmt::Display> + Send + 'static,
    {
        match self.service.clone().call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    pub fn stop(&self) {
        self.service.config.cancellation_token.cancel();
    }

    pub async fn has_session(&self, id: &str) -> bool {
        self.sessions.has_session(&id.into()).await.unwrap_or(false)
    }

    pub async fn end_session(&self, id: &str) {
        if let Err(error) = self.sessions.close_session(&id.into()).await {
            tracing::debug!(%error, "a session of MCP had ended already");
        }
    }
}
