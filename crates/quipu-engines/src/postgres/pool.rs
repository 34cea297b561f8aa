//! A pool of connections. No statement relies on session state that another one left, so a pooler in transaction mode
//! may stand in between.

use std::{
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_postgres::Client;

use super::{
    address::Address,
    tls::{Stream, Tls},
    turn::TURNS,
};
use crate::open_error::{Cause, OpenError};

/// The most connections that one node opens. A statement that finds them all busy waits for one.
const CONNECTIONS: usize = 16;
/// The most of them that wait for rows locked by others, not counting turns: a node that holds a row must still be
/// able to read.
const APPENDS: usize = CONNECTIONS - TURNS - 2;
/// How long a statement waits for a connection.
const WAIT: Duration = Duration::from_secs(20);

pub(super) type Driver =
    tokio_postgres::Connection<tokio_postgres::Socket, Stream<tokio_postgres::Socket>>;

pub(super) struct Pool {
    address: Address,
    tls: Tls,
    idle: Mutex<Vec<Client>>,
    room: Arc<Semaphore>,
    appends: Arc<Semaphore>,
}

/// A connection that is borrowed. It is returned when this is dropped, unless it was given up.
pub(super) struct Lease {
    pool: Arc<Pool>,
    client: Option<Client>,
    _room: OwnedSemaphorePermit,
    _append: Option<OwnedSemaphorePermit>,
}

impl Pool {
    pub(super) fn new(address: Address) -> Result<Self, OpenError> {
        let tls = Tls::new(&address.trust)?;
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        let appends = Arc::new(Semaphore::new(APPENDS));
        Ok(Self { address, tls, idle: Mutex::default(), room, appends })
    }

    /// The database without credentials, for messages.
    pub(super) fn display(&self) -> &str {
        &self.address.display
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that was working when it was last used.
    pub(super) async fn lease(self: &Arc<Self>) -> Result<Lease, Cause> {
        self.lease_with(None).await
    }

    /// A connection for an append without a turn.
    pub(super) async fn lease_to_append(self: &Arc<Self>) -> Result<Lease, Cause> {
        let append = timeout(WAIT, Arc::clone(&self.appends).acquire_owned()).await;
        let append = append.map_err(|_| "no connection was free in time")??;
        self.lease_with(Some(append)).await
    }

    async fn lease_with(
        self: &Arc<Self>,
        append: Option<OwnedSemaphorePermit>,
    ) -> Result<Lease, Cause> {
        timeout(WAIT, async {
            let room = Arc::clone(&self.room).acquire_owned().await?;
            let kept = {
                let mut idle = self.idle();
                idle.retain(|client| !client.is_closed());
                idle.pop()
            };
            let client = match kept {
                Some(client) => client,
                None => self.connect().await?,
            };
            Ok(Lease { pool: Arc::clone(self), client: Some(client), _room: room, _append: append })
        })
        .await
        .map_err(|_| "no connection was free in time")?
    }

    async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.address.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            // Whoever waits for an answer gets the error; nobody else needs it.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the log ended");
            }
        });
        Ok(client)
    }

    /// A connection for notifications, outside the pool: its client and its driver.
    pub(super) async fn listener(&self) -> Result<(Client, Driver), tokio_postgres::Error> {
        self.address.config.connect(self.tls.clone()).await
    }
}

impl Lease {
    /// Closes the connection: a statement on it may still be running.
    pub(super) fn give_up(mut self) {
        drop(self.client.take());
    }
}

impl Deref for Lease {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("a lease has its connection until it is given up or dropped")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            self.pool.idle().push(client);
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("address", &self.address.display).finish_non_exhaustive()
    }
}
