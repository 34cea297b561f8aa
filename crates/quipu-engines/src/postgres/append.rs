//! One append: a single statement, and how its outcome is found out if no answer comes.
//!
//! The head row has a *fence* besides the head. A node that loses its connection during an append raises the fence.
//! What is left of that append on its way to the database then finds another fence and does nothing. So the outcome
//! is settled for good: the append happened, or it never will.

use std::{sync::Arc, time::Duration};

use futures_util::future::join;
use quipu_log::{EngineError, FieldName, Head, engine::not_sealed};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{
    Client, Row,
    types::{ToSql, Type},
};

use super::{
    encode::{Columns, HeadColumns},
    failure::{Fate, fate, io, is_turn_over, unavailable},
    pool::{Lease, Pool},
    read::head_of,
    turn::Held,
};
use crate::open_error::Cause;

/// How long a statement may take before its connection counts as lost.
const STATEMENT: Duration = Duration::from_secs(20);
/// How long the outcome of an append is sought before it is reported as unknown.
const SETTLE: Duration = Duration::from_secs(10);
/// How long it may take to get a connection for that and an answer on it.
const ASK: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(100);
/// How often a raised fence is accepted: if others keep raising it, something else is wrong.
const FENCES: usize = 8;

/// One round trip; the function is in `functions.sql`.
const APPEND: &str = "SELECT quipu.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";

const TYPES: [Type; 19] = [
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::BYTEA,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::BYTEA,
    Type::INT8_ARRAY,
    Type::INT8_ARRAY,
    Type::BYTEA_ARRAY,
    Type::BYTEA_ARRAY,
    Type::BYTEA_ARRAY,
    Type::INT8_ARRAY,
    Type::INT8_ARRAY,
    Type::INT4_ARRAY,
    Type::BYTEA_ARRAY,
    Type::BYTEA_ARRAY,
    Type::BOOL,
];

const HEAD_ROW: &str = "SELECT position, epoch, hash, sealed, fence, current_setting('synchronous_commit') <> 'off' \
     AND current_setting('fsync') = 'on' FROM quipu.fields WHERE name = $1";

/// Raises the fence if the head is still where the append expected it. Waits for an append that is being committed.
const RAISE: &str = "INSERT INTO quipu.fields AS f (name, position, epoch, hash, fence) \
     SELECT $1, 0, 0, $4, $5 + 1 WHERE $2 = 0 \
     ON CONFLICT (name) DO UPDATE SET fence = greatest(f.fence, $5) + 1 \
     WHERE f.position = 0 RETURNING fence";
const RAISE_BEHIND: &str = "UPDATE quipu.fields SET fence = greatest(fence, $5) + 1 \
     WHERE name = $1 AND position = $2 AND epoch = $3 AND hash = $4 RETURNING fence";

const HASH_AT: &str = "SELECT hash FROM quipu.commits WHERE field = $1 AND position = $2";

#[derive(Debug)]
pub(super) struct Append {
    pub(super) field: FieldName,
    pub(super) expected: Head,
    pub(super) end: Head,
    pub(super) from: HeadColumns,
    pub(super) to: HeadColumns,
    pub(super) columns: Columns,
    /// Whether the batch belongs to a copy of a log. Only a sealed field takes those.
    pub(super) copied: bool,
    /// The fence that was read last.
    pub(super) fence: i64,
}

enum Refusal {
    Fence(i64),
    Error(EngineError),
}

impl Append {
    /// Writes the batch, or returns why it was not written; within a turn, if the node has one. Afterwards
    /// `self.fence` is the field's fence, as far as it was read.
    pub(super) async fn run(
        &mut self,
        pool: &Arc<Pool>,
        turn: Option<Held>,
    ) -> Result<Head, EngineError> {
        let (mut in_turn, mut lease) = match self.begun(turn).await {
            Some(lease) => (true, lease),
            None => (false, pool.lease_to_append().await.map_err(|e| unavailable("append", e))?),
        };
        for _ in 0..FENCES {
            let sending = async {
                if in_turn { self.send_and_commit(&lease).await } else { self.send(&lease).await }
            };
            let lost: Cause = match timeout(STATEMENT, sending).await {
                Ok(Ok(true)) => return Ok(self.end),
                Ok(Ok(false)) => match self.refusal(&lease).await {
                    Refusal::Fence(fence) => {
                        self.fence = fence;
                        in_turn = false;
                        continue;
                    }
                    Refusal::Error(error) => return Err(error),
                },
                // The turn had ended before the append was sent, so nothing of it happened.
                Ok(Err(error)) if in_turn && is_turn_over(&error) => {
                    lease.give_up();
                    lease = pool.lease_to_append().await.map_err(|e| unavailable("append", e))?;
                    in_turn = false;
                    continue;
                }
                Ok(Err(error)) => match fate(&error) {
                    Fate::Full => return Err(EngineError::Full),
                    // Two concurrent nodes under a stricter isolation level than the default also end here.
                    Fate::Undone => return Err(self.undone(&lease, error).await),
                    Fate::Unknown => error.into(),
                },
                Err(late) => late.into(),
            };
            lease.give_up();
            return self.settle(pool, lost).await;
        }
        Err(unavailable("append", "the field's fence is raised again and again"))
    }

    /// The connection of a turn that has not ended.
    async fn begun(&mut self, turn: Option<Held>) -> Option<Lease> {
        let turn = turn?;
        if turn.head != self.expected {
            turn.end().await;
            return None;
        }
        self.fence = turn.fence;
        turn.into_lease()
    }

    /// Sends the last statement of a turn together with its commit.
    async fn send_and_commit(&self, client: &Client) -> Result<bool, tokio_postgres::Error> {
        let (sent, committed) = join(self.send(client), client.batch_execute("COMMIT")).await;
        // A failed statement aborted the transaction too.
        let sent = sent?;
        committed.map(|()| sent)
    }

    async fn send(&self, client: &Client) -> Result<bool, tokio_postgres::Error> {
        let Self { from, to, columns, .. } = self;
        let name = self.field.as_str();
        let values: [&(dyn ToSql + Sync); 19] = [
            &name,
            &from.position,
            &from.epoch,
            &from.hash,
            &self.fence,
            &to.position,
            &to.epoch,
            &to.hash,
            &columns.positions,
            &columns.epochs,
            &columns.prevs,
            &columns.hashes,
            &columns.headers,
            &columns.bytes,
            &columns.body_positions,
            &columns.events,
            &columns.salts,
            &columns.bodies,
            &self.copied,
        ];
        let typed: Vec<_> = values.into_iter().zip(TYPES).collect();
        Ok(client.query_typed_one(APPEND, &typed).await?.get(0))
    }

    async fn head_row(&self, client: &Client) -> Result<Option<Row>, tokio_postgres::Error> {
        client.query_typed_opt(HEAD_ROW, &[(&self.field.as_str(), Type::TEXT)]).await
    }

    /// Why nothing was written, from the current head row.
    async fn refusal(&self, client: &Client) -> Refusal {
        let row = match self.head_row(client).await {
            Ok(row) => row,
            Err(error) => return Refusal::Error(unavailable("read the head", error)),
        };
        let Some(row) = row else {
            let actual = Head::EMPTY;
            return Refusal::Error(if self.expected == actual {
                unavailable("append", PROMISES_BROKEN)
            } else {
                EngineError::HeadMoved { actual }
            });
        };
        let actual = match head_of(&row) {
            Ok(actual) => actual,
            Err(damage) => return Refusal::Error(damage.into()),
        };
        let (sealed, fence, promises): (bool, i64, bool) = (row.get(3), row.get(4), row.get(5));
        if sealed && !self.copied {
            return Refusal::Error(EngineError::Sealed { field: self.field.clone() });
        }
        if self.copied && !sealed && actual != Head::EMPTY {
            return Refusal::Error(not_sealed(&self.field, &self.expected));
        }
        if actual != self.expected {
            return Refusal::Error(EngineError::HeadMoved { actual });
        }
        if !promises {
            return Refusal::Error(unavailable("append", PROMISES_BROKEN));
        }
        if fence == self.fence {
            // The head was another one a moment ago, and is back.
            return Refusal::Error(unavailable("append", "the head moved back"));
        }
        Refusal::Fence(fence)
    }

    async fn undone(&self, client: &Client, error: tokio_postgres::Error) -> EngineError {
        match self.head_row(client).await {
            Ok(Some(row)) => match head_of(&row) {
                Ok(actual) if actual != self.expected => EngineError::HeadMoved { actual },
                Ok(_) => unavailable("append", error),
                Err(damage) => damage.into(),
            },
            Ok(None) | Err(_) => unavailable("append", error),
        }
    }

    /// Finds out whether an unanswered append happened, and makes the result final.
    async fn settle(&mut self, pool: &Arc<Pool>, lost: Cause) -> Result<Head, EngineError> {
        tracing::warn!(field = %self.field, error = %lost, "the outcome of an append is unknown: asking");
        let end = Instant::now() + SETTLE;
        while Instant::now() < end {
            if let Ok(Ok(client)) = timeout(ASK, pool.lease()).await {
                match timeout(ASK, self.ask(&client)).await {
                    Ok(Ok(settled)) => return self.settled(&settled, lost),
                    Ok(Err(error)) => {
                        tracing::debug!(%error, "the database does not answer yet");
                        client.give_up();
                    }
                    Err(_) => client.give_up(),
                }
            }
            sleep(PAUSE).await;
        }
        Err(io("append, and nobody says what became of it", lost))
    }

    fn settled(&mut self, settled: &Settled, lost: Cause) -> Result<Head, EngineError> {
        match *settled {
            Settled::Committed => Ok(self.end),
            Settled::Never(fence) => {
                self.fence = fence;
                Err(unavailable("append", lost))
            }
            Settled::Moved(actual) => Err(EngineError::HeadMoved { actual }),
        }
    }

    async fn ask(&self, client: &Client) -> Result<Settled, tokio_postgres::Error> {
        let raise = if self.expected == Head::EMPTY { RAISE } else { RAISE_BEHIND };
        let name = self.field.as_str();
        let HeadColumns { position, epoch, hash } = &self.from;
        let mut values: Vec<(&(dyn ToSql + Sync), Type)> =
            vec![(&name, Type::TEXT), (position, Type::INT8), (epoch, Type::INT8)];
        values.extend([(hash as &(dyn ToSql + Sync), Type::BYTEA), (&self.fence, Type::INT8)]);
        if let Some(row) = client.query_typed_opt(raise, &values).await? {
            return Ok(Settled::Never(row.get(0)));
        }
        let at = [(&name as &(dyn ToSql + Sync), Type::TEXT), (&self.to.position, Type::INT8)];
        let stored = client.query_typed_opt(HASH_AT, &at).await?;
        if stored.is_some_and(|row| row.get::<_, Vec<u8>>(0) == self.to.hash) {
            return Ok(Settled::Committed);
        }
        let row = self.head_row(client).await?;
        let actual = row.map_or(Ok(Head::EMPTY), |row| head_of(&row));
        Ok(Settled::Moved(actual.unwrap_or(Head::EMPTY)))
    }
}

enum Settled {
    Committed,
    /// It did not happen and never will. The new fence.
    Never(i64),
    Moved(Head),
}

const PROMISES_BROKEN: &str = "fsync or synchronous_commit is off now: set both to on";
