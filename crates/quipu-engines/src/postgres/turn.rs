//! Turns to append: a transaction that holds the head row locked. Other nodes that want the row wait in the
//! database's own queue, so nodes that want to append do so one after the other instead of deciding in vain.
//!
//! A turn is never needed for safety: each append compares the head. A turn ends by itself, here and in the database,
//! so a node that hangs or is cut off holds up the others only for a moment.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::future::try_join;
use quipu_log::{EngineError, FieldName, Head};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};
use tokio_postgres::types::Type;

use super::{
    failure::{explain, unavailable},
    pool::{Lease, Pool},
    read::head_of,
};

/// The most turns that a node waits for and holds at the same time. Each takes a connection, and other statements
/// need some too.
pub(super) const TURNS: usize = 8;
const WAIT: Duration = Duration::from_secs(10);
/// How long a turn lasts. In the database it lasts twice as long, for nodes that are cut off from it.
const HOLD: Duration = Duration::from_secs(2);

/// Each statement sees what was committed before it, so the row is up to date once it is locked. All of this is one
/// round trip.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = 8000; \
     SET LOCAL idle_in_transaction_session_timeout = 4000";
const HOLD_ROW: &str =
    "SELECT position, epoch, hash, fence FROM quipu.fields WHERE name = $1 FOR UPDATE";

#[derive(Debug)]
pub(super) struct Turns {
    held: Mutex<BTreeMap<FieldName, Held>>,
    room: Arc<Semaphore>,
    numbers: AtomicU64,
}

/// A transaction that holds the head row of a field.
#[derive(Debug)]
pub(super) struct Held {
    /// Distinguishes it from the next turn of the same field.
    number: u64,
    pub(super) head: Head,
    pub(super) fence: i64,
    transaction: Transaction,
    _room: OwnedSemaphorePermit,
}

/// An open transaction. Its connection is closed unless the transaction is ended.
struct Transaction(Option<Lease>);

impl Default for Turns {
    fn default() -> Self {
        let (held, numbers) = (Mutex::default(), AtomicU64::default());
        Self { held, room: Arc::new(Semaphore::new(TURNS)), numbers }
    }
}

impl Turns {
    fn held(&self) -> MutexGuard<'_, BTreeMap<FieldName, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn; `None` if no connection is free for it, or the field has no row yet.
    pub(super) async fn take(
        self: Arc<Self>,
        pool: Arc<Pool>,
        field: FieldName,
    ) -> Result<Option<Head>, EngineError> {
        // A forgotten turn would make this one wait.
        self.end(&field).await;
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else { return Ok(None) };
        let lease = pool.lease().await.map_err(|e| unavailable("take a turn", e))?;
        let transaction = Transaction(Some(lease));
        let begun = timeout(WAIT, begin(&transaction, &field)).await;
        let begun = begun.map_err(|late| unavailable("take a turn", late))?;
        let Some((head, fence)) = begun? else {
            transaction.roll_back().await;
            return Ok(None);
        };
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.held().insert(field.clone(), Held { number, head, fence, transaction, _room: room });
        Handle::current().spawn(async move {
            sleep(HOLD).await;
            if let Some(held) = self.left_over(&field, number) {
                tracing::warn!(%field, "a turn was not used in time and goes to the next");
                held.end().await;
            }
        });
        Ok(Some(head))
    }

    /// The turn of this number, if it is still held.
    fn left_over(&self, field: &FieldName, number: u64) -> Option<Held> {
        let mut held = self.held();
        let is_it = held.get(field).is_some_and(|held| held.number == number);
        if is_it { held.remove(field) } else { None }
    }

    /// Takes the turn out, to append in it.
    pub(super) fn use_up(&self, field: &FieldName) -> Option<Held> {
        self.held().remove(field)
    }

    pub(super) async fn end(&self, field: &FieldName) {
        if let Some(held) = self.use_up(field) {
            held.end().await;
        }
    }
}

impl Held {
    /// The connection inside the transaction; `None` if the database ended it.
    pub(super) fn into_lease(mut self) -> Option<Lease> {
        self.transaction.0.take().filter(|lease| !lease.is_closed())
    }

    pub(super) async fn end(self) {
        self.transaction.roll_back().await;
    }
}

async fn begin(
    transaction: &Transaction,
    field: &FieldName,
) -> Result<Option<(Head, i64)>, EngineError> {
    let Some(client) = &transaction.0 else { return Ok(None) };
    let name = field.as_str();
    let failed = |error| explain("take a turn", error);
    let begun = async { client.batch_execute(BEGIN).await.map_err(failed) };
    let values = [(&name as &(dyn tokio_postgres::types::ToSql + Sync), Type::TEXT)];
    let row = async { client.query_typed_opt(HOLD_ROW, &values).await.map_err(failed) };
    let ((), row) = try_join(begun, row).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some((head_of(&row)?, row.get(3))))
}

impl Transaction {
    async fn roll_back(mut self) {
        let Some(lease) = self.0.take() else { return };
        // If this fails, nothing is left in the database; if no answer comes, only the connection is lost.
        match timeout(HOLD, lease.batch_execute("ROLLBACK")).await {
            Ok(Ok(())) => drop(lease),
            Ok(Err(_)) | Err(_) => lease.give_up(),
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(lease) = self.0.take() {
            lease.give_up();
        }
    }
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Transaction").finish_non_exhaustive()
    }
}
