//! A connection to a server, plain or with TLS. Made with hyper alone, which the server has in it anyway: a pool of
//! somebody else's would add packages, and each user keeps its connections in another way.

use std::sync::Arc;

use hyper::{
    body::Body,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::{Cause, ServerAddress};

/// Connects; with TLS where `tls` is given. The connection ends when the sender is dropped or the server closes it.
pub async fn connect<B>(
    address: &ServerAddress,
    tls: Option<&Arc<ClientConfig>>,
) -> Result<SendRequest<B>, Cause>
where
    B: Body<Data: Send> + Send + 'static,
    B::Error: Into<Cause>,
{
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    stream.set_nodelay(true)?;
    let Some(config) = tls else { return handshake(TokioIo::new(stream)).await };
    let name = ServerName::try_from(address.host.clone())?;
    let stream = TlsConnector::from(Arc::clone(config)).connect(name, stream).await?;
    handshake(TokioIo::new(stream)).await
}

async fn handshake<S, B>(stream: S) -> Result<SendRequest<B>, Cause>
where
    S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    B: Body<Data: Send> + Send + 'static,
    B::Error: Into<Cause>,
{
    let (sender, connection) = http1::handshake(stream).await?;
    // If it breaks, the next request on the sender says why.
    tokio::spawn(connection);
    Ok(sender)
}
