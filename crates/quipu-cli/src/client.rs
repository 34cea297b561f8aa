//! A small HTTP/1.1 client over one keep-alive connection, with or without TLS.
//! Knows how bytes travel; what they mean is for the commands. Hand-written because hyper, which the
//! server needs anyway, is nearly all of it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Uri,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// What a client is made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientOptions {
    /// The server's address, `http://…` or `https://…`.
    pub(crate) url: String,
    /// The key to present.
    pub(crate) key: Option<String>,
    /// The certificates that an https server is checked against, in PEM.
    pub(crate) ca_cert: Option<PathBuf>,
    /// Headers that go with every request.
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The address is not one.
    #[error("{url:?} is not the address of a server: {reason}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is nothing to check an https server against.
    #[error("{url} needs --ca-cert: no certificate roots are built in")]
    NoRoots {
        /// The server.
        url: String,
    },
    /// The certificates cannot be used.
    #[error("cannot use the certificates in {}: {reason}", path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A header cannot carry the value.
    #[error("{name} cannot be sent as a header: it has a character that is not allowed there")]
    Header {
        /// The header.
        name: String,
    },
    /// There is no connection.
    #[error("cannot connect to {url}")]
    Connect {
        /// The server.
        url: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection failed before the answer was complete.
    #[error("no whole answer from {url}")]
    Exchange {
        /// The server.
        url: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// An answer, whatever its status.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The whole body.
    pub(crate) body: Bytes,
}

/// One connection to a server, made when it is first needed and made anew when it was lost.
#[derive(Debug)]
pub(crate) struct Client {
    url: String,
    host: String,
    port: u16,
    authority: HeaderValue,
    headers: Vec<(HeaderName, HeaderValue)>,
    tls: Option<Arc<ClientConfig>>,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Client {
    /// A client that is not connected yet.
    pub(crate) fn new(options: &ClientOptions) -> Result<Self, ClientError> {
        let refuse =
            |reason: &str| ClientError::Url { url: options.url.clone(), reason: reason.to_owned() };
        let uri: Uri = options.url.parse().map_err(|_| refuse("it cannot be read"))?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) | None => return Err(refuse("it must begin with http:// or https://")),
        };
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(refuse("it must have no path"));
        }
        let host = uri.host().ok_or_else(|| refuse("it names no host"))?.to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let authority = uri.authority().map_or(host.as_str(), |authority| authority.as_str());
        Ok(Self {
            url: options.url.clone(),
            authority: header_value("host", authority)?,
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            headers: headers(options)?,
            tls: if secure { Some(tls_config(options)?) } else { None },
            sender: None,
        })
    }

    /// Asks for a path.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Answer, ClientError> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    /// Sends JSON to a path.
    pub(crate) async fn post(&mut self, path: &str, body: Bytes) -> Result<Answer, ClientError> {
        self.send(Method::POST, path, body).await
    }

    async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let mut request = Request::new(Full::new(body));
        *request.uri_mut() = path.parse().map_err(|_| self.broken("the path cannot be read"))?;
        let headers = request.headers_mut();
        headers.insert(HOST, self.authority.clone());
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, value) in &self.headers {
            headers.insert(name.clone(), value.clone());
        }
        *request.method_mut() = method;
        let mut sender = self.connected().await?;
        let exchange = async {
            let answer = sender.send_request(request).await.map_err(|e| self.broken(e))?;
            let status = answer.status().as_u16();
            let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX);
            let body = body.collect().await.map_err(|e| self.broken(e))?.to_bytes();
            Ok(Answer { status, body })
        };
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, exchange)
            .await
            .unwrap_or_else(|_| Err(self.broken("it took more than 60 seconds")))?;
        self.sender = Some(sender);
        Ok(answer)
    }

    async fn connected(&mut self) -> Result<SendRequest<Full<Bytes>>, ClientError> {
        if let Some(mut sender) = self.sender.take()
            && sender.ready().await.is_ok()
        {
            return Ok(sender);
        }
        tokio::time::timeout(CONNECT_TIMEOUT, self.connect())
            .await
            .unwrap_or_else(|_| Err(self.unreachable("it took more than 10 seconds")))
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, ClientError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|e| self.unreachable(e))?;
        stream.set_nodelay(true).map_err(|e| self.unreachable(e))?;
        let Some(config) = &self.tls else { return self.handshake(TokioIo::new(stream)).await };
        let name = ServerName::try_from(self.host.clone()).map_err(|e| self.unreachable(e))?;
        let stream = TlsConnector::from(Arc::clone(config))
            .connect(name, stream)
            .await
            .map_err(|e| self.unreachable(e))?;
        self.handshake(TokioIo::new(stream)).await
    }

    async fn handshake<S>(&self, stream: S) -> Result<SendRequest<Full<Bytes>>, ClientError>
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
        ClientError::Connect { url: self.url.clone(), source: source.into() }
    }

    fn broken(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ClientError {
        ClientError::Exchange { url: self.url.clone(), source: source.into() }
    }
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, ClientError> {
    HeaderValue::from_str(value).map_err(|_| ClientError::Header { name: name.to_owned() })
}

fn headers(options: &ClientOptions) -> Result<Vec<(HeaderName, HeaderValue)>, ClientError> {
    let mut headers = Vec::new();
    if let Some(key) = &options.key {
        let mut value = header_value("the key", &format!("Bearer {key}"))?;
        value.set_sensitive(true);
        headers.push((AUTHORIZATION, value));
    }
    for (name, value) in &options.headers {
        let wrong = |_| ClientError::Header { name: (*name).to_owned() };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(wrong)?;
        headers.push((header, header_value(name, value)?));
    }
    Ok(headers)
}

fn tls_config(options: &ClientOptions) -> Result<Arc<ClientConfig>, ClientError> {
    let Some(path) = &options.ca_cert else {
        return Err(ClientError::NoRoots { url: options.url.clone() });
    };
    let refuse = |reason: String| ClientError::Roots { path: path.clone(), reason };
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|e| refuse(e.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|e| refuse(e.to_string()))?;
        roots.add(certificate).map_err(|e| refuse(e.to_string()))?;
    }
    if roots.is_empty() {
        return Err(refuse("there is no certificate in it".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| refuse(e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(url: &str) -> Result<Client, ClientError> {
        Client::new(&ClientOptions { url: url.to_owned(), ..ClientOptions::default() })
    }

    #[test]
    fn takes_addresses_with_and_without_a_port() {
        let plain = client("http://localhost").unwrap();
        assert_eq!((plain.host.as_str(), plain.port), ("localhost", 80));
        let six = client("http://[::1]:7070/").unwrap();
        assert_eq!((six.host.as_str(), six.port), ("::1", 7070));
        assert_eq!(six.authority, "[::1]:7070");
    }

    #[test]
    fn refuses_what_is_no_server_address_and_says_why() {
        for (url, reason) in [
            ("127.0.0.1:7070", "http://"),
            ("ftp://host", "http://"),
            ("http://host/path", "no path"),
            ("", "cannot be read"),
        ] {
            let error = client(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn https_asks_for_the_certificates_it_needs() {
        let error = client("https://host").unwrap_err().to_string();
        assert!(error.contains("--ca-cert"), "{error}");
    }

    #[test]
    fn a_key_that_cannot_be_a_header_is_not_shown() {
        let options = ClientOptions {
            url: "http://host".to_owned(),
            key: Some("secret\n".to_owned()),
            ..ClientOptions::default()
        };
        let error = Client::new(&options).unwrap_err().to_string();
        assert!(error.contains("the key") && !error.contains("secret"), "{error}");
    }
}
