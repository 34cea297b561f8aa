//! How requests of `object_store` get to a server: over hyper and rustls, which the server needs anyway. A
//! connection for each request, because there are a few an hour.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper::{
    Request, Uri,
    client::conn::http1::SendRequest,
    header::{HOST, HeaderValue},
};
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
        HttpResponse, HttpResponseBody, HttpService,
    },
};
use quipu_http::{Cause, ServerAddress, connect, system_certificates};
use rustls::ClientConfig;
use tokio::time::timeout;

const CONNECT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub(crate) struct Connector {
    tls: Arc<ClientConfig>,
}

impl Connector {
    /// Servers are checked with the certificates of the system.
    pub(crate) fn new() -> Result<Self, Cause> {
        Ok(Self { tls: system_certificates()? })
    }

    async fn connect(&self, uri: &Uri) -> Result<SendRequest<HttpRequestBody>, Cause> {
        let address = ServerAddress::of(uri)?;
        connect(&address, address.secure.then_some(&self.tls)).await
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
