//! HTTP/1.1 to a server, with or without TLS: connections that are kept for the next request. Knows how
//! bytes travel and not what they mean.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    client::conn::http1::SendRequest,
    header::HOST,
};
use quipu_http::{ReadError, connect, read_at_most};
use tokio::time::timeout;

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
        let body = match timeout(self.answer_timeout, read_at_most(body, ANSWER_BYTES_MAX)).await {
            Ok(Ok(body)) => body,
            Ok(Err(ReadError::TooLarge)) => return Err(too_large()),
            Ok(Err(ReadError::Broken(error))) => {
                return Err(ClientError::broken(self.url(), error));
            }
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
        let Address { server, tls, .. } = &self.address;
        connect(server, tls.as_ref()).await.map_err(|error| self.unreachable(error))
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
