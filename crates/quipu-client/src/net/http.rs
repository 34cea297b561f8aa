//! HTTP/1.1 to a server, with or without TLS: connections that are kept for the next request. Knows how
//! bytes travel and not what they mean. Hand-written because hyper, which the server needs anyway, is
//! nearly all of it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{
    Request, Response,
    body::{Body as _, Bytes, Incoming},
    client::conn::http1::{self, SendRequest},
    header::HOST,
};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;

use crate::{
    error::ClientError,
    limits::{ANSWER_BYTES_MAX, CONNECT_TIMEOUT, IDLE_CONNECTIONS_MAX},
    net::address::Address,
};

type Connection = SendRequest<Full<Bytes>>;

/// A server, and the connections to it that nobody uses now.
#[derive(Debug)]
pub(crate) struct Http {
    address: Address,
    answer_timeout: Duration,
    idle: Mutex<Vec<Connection>>,
}

impl Http {
    pub(crate) const fn new(address: Address, answer_timeout: Duration) -> Self {
        Self { address, answer_timeout, idle: Mutex::new(Vec::new()) }
    }

    pub(crate) fn url(&self) -> &str {
        &self.address.url
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn exchange(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, ClientError> {
        let (connection, answer) = self.send(request).await?;
        let (parts, body) = answer.into_parts();
        let too_large = || {
            let problem = format!("it is larger than {ANSWER_BYTES_MAX} bytes");
            ClientError::unexpected(parts.status, problem, b"")
        };
        if usize::try_from(body.size_hint().lower()).map_or(true, |size| size > ANSWER_BYTES_MAX) {
            return Err(too_large());
        }
        let reading = Limited::new(body, ANSWER_BYTES_MAX).collect();
        let body = match timeout(self.answer_timeout, reading).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
            Ok(Err(error)) => return Err(ClientError::broken(self.url(), error)),
            Err(_) => return Err(self.too_slow()),
        };
        self.keep(connection);
        Ok(Response::from_parts(parts, body))
    }

    /// Sends a request whose answer goes on. Its connection is used for nothing else.
    pub(crate) async fn stream(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<Incoming>, ClientError> {
        self.send(request).await.map(|(_, answer)| answer)
    }

    async fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<(Connection, Response<Incoming>), ClientError> {
        let mut request = request.map(Full::new);
        request.headers_mut().insert(HOST, self.address.authority.clone());
        let mut connection = self.connected().await?;
        match timeout(self.answer_timeout, connection.send_request(request)).await {
            Ok(Ok(answer)) => Ok((connection, answer)),
            Ok(Err(error)) => Err(ClientError::broken(self.url(), error)),
            Err(_) => Err(self.too_slow()),
        }
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_CONNECTIONS_MAX {
            idle.push(connection);
        }
    }

    fn kept(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    async fn connected(&self) -> Result<Connection, ClientError> {
        while let Some(mut connection) = self.kept() {
            if connection.ready().await.is_ok() {
                return Ok(connection);
            }
        }
        timeout(CONNECT_TIMEOUT, self.connect())
            .await
            .unwrap_or_else(|_| Err(self.unreachable("it took more than 10 seconds")))
    }

    async fn connect(&self) -> Result<Connection, ClientError> {
        let address = &self.address;
        let stream = TcpStream::connect((address.host.as_str(), address.port))
            .await
            .map_err(|e| self.unreachable(e))?;
        stream.set_nodelay(true).map_err(|e| self.unreachable(e))?;
        let Some(config) = &address.tls else { return self.handshake(TokioIo::new(stream)).await };
        let name = ServerName::try_from(address.host.clone()).map_err(|e| self.unreachable(e))?;
        let stream = TlsConnector::from(Arc::clone(config))
            .connect(name, stream)
            .await
            .map_err(|e| self.unreachable(e))?;
        self.handshake(TokioIo::new(stream)).await
    }

    async fn handshake<S>(&self, stream: S) -> Result<Connection, ClientError>
    where
        S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        let (sender, connection) =
            http1::handshake(stream).await.map_err(|e| self.unreachable(e))?;
        // Ends when the sender is dropped or the server closes; the next request sees why.
        tokio::spawn(connection);
        Ok(sender)
    }

    fn unreachable(
        &self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> ClientError {
        ClientError::Connect { url: self.url().to_owned(), source: source.into() }
    }

    fn too_slow(&self) -> ClientError {
        let seconds = self.answer_timeout.as_secs_f64();
        ClientError::broken(self.url(), format!("it took more than {seconds} seconds"))
    }
}
