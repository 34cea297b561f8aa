//! A Field as a program holds it, wherever it is: how it is reached, and the one way every call takes.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hyper::{
    HeaderMap, Method, Request,
    body::Bytes,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue},
};
use quipu_wire::akashik::FieldStatus;
use serde::de::DeserializeOwned;

use crate::{
    error::ClientError,
    handle::{agent::Agent, harn::Harn},
    limits::ANSWER_TIMEOUT,
    net::{
        address::Address,
        http::Http,
        nodes::Nodes,
        retry::{Attempts, Retry},
        transport::{StreamBody, Transport},
    },
};

const FIELD: HeaderName = HeaderName::from_static("quipu-field");
const POSITION: HeaderName = HeaderName::from_static("quipu-position");
const MIN_POSITION: HeaderName = HeaderName::from_static("quipu-min-position");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A Field: a world of agents and what they know. Cheap to clone, and safe to use from many tasks.
#[derive(Debug, Clone)]
pub struct Field {
    shared: Arc<Shared>,
    headers: HeaderMap,
    /// The furthest position of its log that a node told us of: no node is to tell us of less.
    told: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Shared {
    transport: Transport,
    retry: Retry,
}

/// How to reach a server. Nothing is sent before the first call.
#[derive(Debug, Clone)]
#[must_use]
pub struct Connect {
    url: String,
    others: Vec<String>,
    key: Option<String>,
    field: Option<String>,
    ca_cert: Option<PathBuf>,
    retry: Retry,
    timeout: Duration,
}

impl Connect {
    /// The address of another node that serves the same Fields. Calls go to it when the one before is away, and it is
    /// asked to know of everything that the one before told.
    pub fn or_at(mut self, url: impl Into<String>) -> Self {
        self.others.push(url.into());
        self
    }

    /// The key to present; a server with `--dev` needs none.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The Field to use; the key's own or `default` if absent.
    pub fn field(mut self, name: impl Into<String>) -> Self {
        self.field = Some(name.into());
        self
    }

    /// The certificates that an https server is checked against, in PEM.
    pub fn ca_cert(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca_cert = Some(path.into());
        self
    }

    pub const fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// How long one attempt may wait for an answer; 60 seconds if absent.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The Field, not connected yet.
    pub fn build(self) -> Result<Field, ClientError> {
        let server = |url: &String| {
            let address = Address::parse(url, self.ca_cert.as_ref())?;
            Ok(Http::new(address, self.timeout))
        };
        let others = self.others.iter().map(server).collect::<Result<_, ClientError>>()?;
        let nodes = Nodes::new(server(&self.url)?, others);
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            let mut value = header_value("the key", &format!("Bearer {key}"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        if let Some(name) = &self.field {
            headers.insert(FIELD, header_value("the Field's name", name)?);
        }
        let shared = Shared { transport: Transport::Http(nodes), retry: self.retry };
        Ok(Field { shared: Arc::new(shared), headers, told: Arc::default() })
    }
}

impl Field {
    /// A server's Field: `http://127.0.0.1:7070`, or `https://…` with certificates.
    pub fn connect(url: impl Into<String>) -> Connect {
        Connect {
            url: url.into(),
            others: Vec::new(),
            key: None,
            field: None,
            ca_cert: None,
            retry: Retry::default(),
            timeout: ANSWER_TIMEOUT,
        }
    }

    /// The Field `default` of a data directory, inside this process and without a server. The
    /// directory is made if it is not there. Only one process can hold it at a time.
    #[cfg(feature = "embedded")]
    pub async fn open(dir: impl AsRef<std::path::Path>) -> Result<Self, ClientError> {
        Self::open_with_authority(dir, quipu_wire::limits::AUTHORITY_MAX).await
    }

    /// The same, where nothing that is asked has more than an authority from 0 to 10: for a program that speaks for somebody
    /// whom it does not trust with everything, such as a model.
    #[cfg(feature = "embedded")]
    pub async fn open_with_authority(
        dir: impl AsRef<std::path::Path>,
        authority: u8,
    ) -> Result<Self, ClientError> {
        let opened = crate::net::embedded::Inside::open(dir.as_ref(), authority).await?;
        Ok(Self::inside(opened))
    }

    /// A Field inside this process that is gone with it.
    #[cfg(feature = "embedded")]
    pub async fn in_memory() -> Result<Self, ClientError> {
        Ok(Self::inside(crate::net::embedded::Inside::in_memory().await?))
    }

    #[cfg(feature = "embedded")]
    fn inside(inside: crate::net::embedded::Inside) -> Self {
        let transport = Transport::Inside(inside);
        let shared = Arc::new(Shared { transport, retry: Retry::default() });
        Self { shared, headers: HeaderMap::new(), told: Arc::default() }
    }

    /// Another Field of the same server or data directory, made by its first write.
    pub fn named(&self, name: &str) -> Result<Self, ClientError> {
        let mut other = self.clone();
        other.told = Arc::default();
        other.headers.insert(FIELD, header_value("the Field's name", name)?);
        Ok(other)
    }

    /// An agent of this Field, by its name and its role. It takes part once it is registered.
    pub fn agent(&self, id: &str, role: &str) -> Result<Agent, ClientError> {
        Agent::new(self.clone(), Some(id), role)
    }

    /// The one agent that the key is bound to; without such a key, nobody, who can still read. To be
    /// registered it needs its name: [`Self::agent`].
    #[must_use]
    pub fn key_agent(&self, role: &str) -> Agent {
        Agent::nameless(self.clone(), role)
    }

    /// The same Field by the Harn protocol: Tasks, their events, replays and receipts.
    #[must_use]
    pub fn harn(&self) -> Harn {
        Harn::new(self.clone())
    }

    pub async fn status(&self) -> Result<FieldStatus, ClientError> {
        understand(&self.get("/v1/field/status", &HeaderMap::new()).await?)
    }

    /// Closes a Field inside this process in order; over HTTP there is nothing to close. All clones
    /// are closed with it, and streams end.
    pub async fn close(&self) {
        self.shared.transport.close().await;
    }

    /// Reads a path of the HTTP binding; the answer is as it came.
    pub(crate) async fn get(&self, path: &str, headers: &HeaderMap) -> Result<Bytes, ClientError> {
        self.send(&self.request(Method::GET, path, headers, Bytes::new())?).await
    }

    /// Sends JSON to a path of the HTTP binding; the answer is as it came. The headers must make it
    /// safe to send again.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Bytes, ClientError> {
        self.send(&self.request(Method::POST, path, headers, body)?).await
    }

    /// Opens a stream, in one attempt.
    pub(crate) async fn stream(
        &self,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<hyper::Response<StreamBody>, ClientError> {
        let request = self.request(Method::GET, path, headers, Bytes::new())?;
        self.shared.transport.stream(request).await
    }

    pub(crate) fn attempts(&self) -> Attempts {
        Attempts::new(self.shared.retry, self.shared.transport.is_remote())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.shared.transport.is_closed()
    }

    /// What errors call the other side.
    pub(crate) fn peer_name(&self) -> &str {
        self.shared.transport.name()
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Request<Bytes>, ClientError> {
        let refuse = |_| ClientError::Header { name: format!("the path {path:?}") };
        let mut request = Request::new(body);
        *request.uri_mut() = path.parse().map_err(refuse)?;
        request.headers_mut().extend(self.headers.clone());
        request.headers_mut().extend(headers.clone());
        let told = self.told.load(Ordering::Relaxed);
        if told > 0 && self.shared.transport.may_move() {
            request.headers_mut().insert(MIN_POSITION, HeaderValue::from(told));
        }
        if method == Method::POST {
            request.headers_mut().insert(CONTENT_TYPE, JSON);
        }
        *request.method_mut() = method;
        Ok(request)
    }

    async fn send(&self, request: &Request<Bytes>) -> Result<Bytes, ClientError> {
        let mut attempts = self.attempts();
        loop {
            let answer = self.shared.transport.exchange(request.clone()).await;
            let refused = match answer.map(hyper::Response::into_parts) {
                Ok((parts, body)) if parts.status.is_success() => {
                    self.note_position(&parts.headers);
                    return Ok(body);
                }
                Ok((parts, body)) => ClientError::refused(parts.status, &parts.headers, body),
                Err(error) => error,
            };
            attempts.pause_after(refused).await?;
        }
    }

    fn note_position(&self, headers: &HeaderMap) {
        let told = headers.get(POSITION).and_then(|value| value.to_str().ok()?.parse().ok());
        self.told.fetch_max(told.unwrap_or_default(), Ordering::Relaxed);
    }
}

pub(crate) fn header_value(name: &str, value: &str) -> Result<HeaderValue, ClientError> {
    // Ids may hold any UTF-8, and the server reads them so.
    HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| ClientError::Header { name: name.to_owned() })
}

pub(crate) fn understand<T: DeserializeOwned>(body: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(body)
        .map_err(|error| ClientError::unexpected(hyper::StatusCode::OK, error, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_cannot_be_a_header_is_not_shown() {
        let built = Field::connect("http://host").key("secret\n").build();
        let error = built.unwrap_err().to_string();
        assert!(error.contains("the key") && !error.contains("secret"), "{error}");
    }
}
