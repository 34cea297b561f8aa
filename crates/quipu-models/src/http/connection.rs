//! A keep-alive connection to one endpoint. Made when it is needed, kept while it works. Hand-written
//! because hyper, which the server needs anyway, is nearly all of it.

use std::{sync::Arc, time::Duration};

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    Request, Response,
    body::{Body as _, Bytes, Incoming},
    client::conn::http1::{self, SendRequest},
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER},
};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{net::TcpStream, sync::Mutex};
use tokio_rustls::TlsConnector;

use super::{address::Address, roots::Roots};
use crate::limits::ANSWER_BYTES_MAX;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no whole answer.
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
    roots: Option<Roots>,
    idle: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Connection {
    /// A connection that is not made yet. `key` is a whole `Authorization` value, marked as secret.
    pub(crate) fn new(
        address: Address,
        authority: HeaderValue,
        key: Option<HeaderValue>,
        roots: Option<Roots>,
    ) -> Self {
        Self { address, authority, key, roots, idle: Mutex::new(None) }
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
        self.connect().await.map_err(ExchangeError::Connect)
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Cause> {
        let stream = TcpStream::connect((self.address.host.as_str(), self.address.port)).await?;
        stream.set_nodelay(true)?;
        let Some(Roots(config)) = &self.roots else { return handshake(TokioIo::new(stream)).await };
        let name = ServerName::try_from(self.address.host.clone())?;
        let stream = TlsConnector::from(Arc::clone(config)).connect(name, stream).await?;
        handshake(TokioIo::new(stream)).await
    }
}

async fn handshake<S>(stream: S) -> Result<SendRequest<Full<Bytes>>, Cause>
where
    S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(stream).await?;
    // Ends when the sender is dropped or the endpoint closes; the next request sees why.
    tokio::spawn(connection);
    Ok(sender)
}

async fn read(answer: Response<Incoming>) -> Result<Reply, ExchangeError> {
    let status = answer.status().as_u16();
    let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = seconds.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    if answer.body().size_hint().lower() > ANSWER_BYTES_MAX as u64 {
        return Err(ExchangeError::TooLarge);
    }
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(|error| {
        if error.is::<LengthLimitError>() {
            ExchangeError::TooLarge
        } else {
            ExchangeError::Broken(error)
        }
    })?;
    Ok(Reply { status, retry_after, body: body.to_bytes() })
}
