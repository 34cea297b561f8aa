//! How requests of `object_store` get to a server: over hyper and rustls, which the server needs anyway. A
//! connection for each request, because there are a few an hour.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper::{
    Request, Uri,
    body::Body,
    client::conn::http1,
    header::{HOST, HeaderValue},
};
use hyper_util::rt::TokioIo;
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
        HttpResponse, HttpResponseBody, HttpService,
    },
};
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);

/// Connects to servers of the web.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    tls: Arc<ClientConfig>,
}

impl Connector {
    /// Servers are checked with the certificates of the system.
    pub(crate) fn new() -> Result<Self, Cause> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { tls: Arc::new(tls) })
    }

    async fn connect(&self, uri: &Uri) -> Result<http1::SendRequest<HttpRequestBody>, Cause> {
        let host = uri.host().ok_or("the address has no host")?;
        let secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        // An address in brackets is one without them.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((bare, port)).await?;
        stream.set_nodelay(true)?;
        if !secure {
            return handshake(TokioIo::new(stream)).await;
        }
        let name = ServerName::try_from(bare.to_owned())?;
        let stream = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await?;
        handshake(TokioIo::new(stream)).await
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connector {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut parts, body) = request.into_parts();
        let uri = std::mem::take(&mut parts.uri);
        let connecting = timeout(CONNECT, self.connect(&uri)).await;
        let connecting = connecting.unwrap_or_else(|late| Err(late.into()));
        let mut sender =
            connecting.map_err(|error| HttpError::new_boxed(HttpErrorKind::Connect, error))?;
        let unknown = |error: Cause| HttpError::new_boxed(HttpErrorKind::Unknown, error);
        if let (false, Some(authority)) = (parts.headers.contains_key(HOST), uri.authority()) {
            let host = HeaderValue::from_str(authority.as_str());
            parts.headers.insert(HOST, host.map_err(|error| unknown(error.into()))?);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        parts.uri =
            path.parse().map_err(|error: hyper::http::uri::InvalidUri| unknown(error.into()))?;
        let answer = sender.send_request(Request::from_parts(parts, body)).await;
        let (parts, body) = answer.map_err(broken)?.into_parts();
        let body = HttpResponseBody::new(body.map_err(broken));
        Ok(HttpResponse::from_parts(parts, body))
    }
}

fn broken(error: hyper::Error) -> HttpError {
    let kind = if error.is_timeout() { HttpErrorKind::Timeout } else { HttpErrorKind::Interrupted };
    HttpError::new(kind, error)
}

async fn handshake<S, B>(stream: S) -> Result<http1::SendRequest<B>, Cause>
where
    S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    B: Body<Data: Send> + Send + 'static,
    B::Error: Into<Cause>,
{
    let (sender, connection) = http1::handshake(stream).await?;
    // Ends when the answer is read or the server closes.
    tokio::spawn(connection);
    Ok(sender)
}
