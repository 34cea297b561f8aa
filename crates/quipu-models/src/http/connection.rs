//! A keep-alive connection to one endpoint. Made when it is needed, kept while it works.

use std::{sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    client::conn::http1::SendRequest,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER},
};
use quipu_http::{Cause, ReadError, connect, read_at_most};
use rustls::ClientConfig;
use tokio::sync::Mutex;

use super::address::Address;
use crate::limits::ANSWER_BYTES_MAX;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeError {
    #[error("cannot connect")]
    Connect(#[source] Cause),
    #[error("the connection broke")]
    Broken(#[source] Cause),
    #[error("the answer has more than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
}

/// A whole answer, whatever its status.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

/// A connection that is opened when it is needed.
#[derive(Debug)]
pub(crate) struct Connection {
    address: Address,
    authority: HeaderValue,
    key: Option<HeaderValue>,
    tls: Option<Arc<ClientConfig>>,
    idle: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Connection {
    /// A connection that is not made yet. `key` is a whole `Authorization` value, marked as secret.
    pub(crate) fn new(
        address: Address,
        authority: HeaderValue,
        key: Option<HeaderValue>,
        tls: Option<Arc<ClientConfig>>,
    ) -> Self {
        Self { address, authority, key, tls, idle: Mutex::new(None) }
    }

    /// Sends JSON to a path below the address and reads the answer.
    pub(crate) async fn post(&self, path: &str, body: Bytes) -> Result<Reply, ExchangeError> {
        let mut request = Request::new(Full::new(body));
        let path = format!("{}{path}", self.address.base);
        *request.uri_mut() =
            path.parse().map_err(|error| ExchangeError::Broken(Box::new(error)))?;
        *request.method_mut() = hyper::Method::POST;
        let headers = request.headers_mut();
        headers.insert(HOST, self.authority.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.key {
            headers.insert(AUTHORIZATION, key.clone());
        }
        let mut sender = self.sender().await?;
        let answer = sender
            .send_request(request)
            .await
            .map_err(|error| ExchangeError::Broken(error.into()))?;
        let reply = read(answer).await?;
        *self.idle.lock().await = Some(sender);
        Ok(reply)
    }

    async fn sender(&self) -> Result<SendRequest<Full<Bytes>>, ExchangeError> {
        let kept = self.idle.lock().await.take();
        if let Some(mut sender) = kept
            && sender.ready().await.is_ok()
        {
            return Ok(sender);
        }
        connect(&self.address.server, self.tls.as_ref()).await.map_err(ExchangeError::Connect)
    }
}

async fn read(answer: Response<Incoming>) -> Result<Reply, ExchangeError> {
    let status = answer.status().as_u16();
    let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = seconds.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    let body = read_at_most(answer.into_body(), ANSWER_BYTES_MAX).await;
    let body = body.map_err(|error| match error {
        ReadError::TooLarge => ExchangeError::TooLarge,
        ReadError::Broken(cause) => ExchangeError::Broken(cause),
    })?;
    Ok(Reply { status, retry_after, body })
}
