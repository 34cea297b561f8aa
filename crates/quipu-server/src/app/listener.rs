//! The loop that accepts connections and serves each in its own task, plain or TLS, until it is told
//! to stop. Bounds how many there are and how long they may dawdle.

use std::{net::IpAddr, sync::Arc, time::Duration};

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use crate::{
    limits::{ACCEPT_PAUSE, HANDSHAKE_TIMEOUT, HEAD_BYTES_MAX, HEAD_TIMEOUT},
    net::{
        bare_refusal::NoBareRefusals,
        tls::TlsReload,
        visits::{Visit, VisitLimits, Visits},
        write_limit::WriteLimit,
    },
    pipeline::entrance::Entrance,
};

pub(crate) struct Listener {
    pub(crate) tcp: TcpListener,
    pub(crate) tls: Option<TlsReload>,
    pub(crate) entrance: Arc<Entrance>,
    pub(crate) grace: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) connections_max: usize,
}

/// What a connection's task needs besides the connection.
struct Connection {
    entrance: Arc<Entrance>,
    tls: Option<TlsAcceptor>,
    leaving: watch::Receiver<bool>,
    ended: watch::Receiver<bool>,
    write_timeout: Duration,
    place: OwnedSemaphorePermit,
    visit: Arc<Visit>,
}

impl Listener {
    /// Serves until `shutdown` resolves. Then no connection is accepted any more, requests under
    /// way have the grace to finish, and what is left is cut off.
    pub(crate) async fn run(self, shutdown: impl Future<Output = ()> + Send) {
        let (leave, leaving) = watch::channel(false);
        let (end, ended) = watch::channel(false);
        let places = Arc::new(Semaphore::new(self.connections_max));
        let visits = Visits::new(VisitLimits::among(self.connections_max));
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                (stream, address, place) = self.accept(&places) => {
                    let connection = Connection {
                        entrance: Arc::clone(&self.entrance),
                        tls: self.tls.as_ref().map(TlsReload::acceptor),
                        leaving: leaving.clone(),
                        ended: ended.clone(),
                        write_timeout: self.write_timeout,
                        place,
                        visit: visits.enter(address),
                    };
                    tokio::spawn(connection.run(stream));
                }
            }
        }
        drop(self.tcp);
        leave.send_replace(true);
        drop(leaving);
        // Every connection holds a receiver until it is done.
        if timeout(self.grace, leave.closed()).await.is_err() {
            tracing::warn!("requests were still under way when the grace ended; they are cut off");
        }
        end.send_replace(true);
        drop(ended);
        // Every task holds a receiver: when all are gone, nothing serves any more.
        end.closed().await;
    }

    async fn accept(&self, places: &Arc<Semaphore>) -> (TcpStream, IpAddr, OwnedSemaphorePermit) {
        let place = Arc::clone(places).acquire_owned().await;
        let place = place.expect("the semaphore of places is never closed");
        loop {
            match self.tcp.accept().await {
                Ok((stream, peer)) => return (stream, peer.ip(), place),
                Err(error) => {
                    // Out of file handles, most often: others must end first.
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

impl Connection {
    async fn run(self, stream: TcpStream) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays slow to send");
        }
        let (mut ended, visit) = (self.ended.clone(), Arc::clone(&self.visit));
        tokio::select! {
            () = self.secure_and_serve(stream) => {}
            // Without a key it has to go: too many others came, or it does nothing.
            () = visit.must_leave() => {}
            // The other end of the channel is never dropped before it says true.
            _ = ended.wait_for(|ended| *ended) => {}
        }
    }

    async fn secure_and_serve(self, stream: TcpStream) {
        // The place is taken until the connection is closed, and it counts as its key's, also where it has become a
        // WebSocket.
        let held = (self.place, Arc::clone(&self.visit));
        let stream = WriteLimit::holding(stream, self.write_timeout, held);
        let Some(tls) = &self.tls else {
            return serve(self.entrance, self.visit, self.leaving, stream).await;
        };
        match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
            Ok(Ok(stream)) => serve(self.entrance, self.visit, self.leaving, stream).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }
}

/// Serves a connection until it ends, becomes a WebSocket, or is told to leave: then it finishes the
/// request under way and no other.
async fn serve<S>(
    entrance: Arc<Entrance>,
    visit: Arc<Visit>,
    mut leaving: watch::Receiver<bool>,
    stream: S,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |request| {
        let (entrance, visit) = (Arc::clone(&entrance), Arc::clone(&visit));
        async move { entrance.serve_from(&visit, request).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(2 * HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(NoBareRefusals::new(stream)), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let done = tokio::select! {
        done = connection.as_mut() => done,
        // The other end of the channel is never dropped before it says true.
        () = async { leaving.wait_for(|leaving| *leaving).await.ok(); } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = done {
        tracing::debug!(%error, "a connection ended early");
    }
}
