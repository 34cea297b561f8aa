//! Reads rows as commits. A value of another size than was written is damage; whoever reads verifies the chain.

use std::{collections::VecDeque, sync::Arc};

use quipu_log::{
    Body, BodyContent, Commit, Damage, DamageKind, EngineError, FieldName, Head, Salt,
    StoredBodies, StoredBody, StoredHeader, engine::READ_BYTES_MAX,
};
use quipu_wire::hash::Hash;
use tokio_postgres::{
    Client, Row,
    types::{ToSql, Type},
};

use super::{
    failure::{explain, io},
    pool::{Lease, Pool},
};

/// The most commits that one statement reads. A longer page takes several statements.
const PAGE: usize = 1024;

/// Reads the positions from `$2` on and before `$3`, and no more once they are together larger than `$4`: the
/// commits, then their bodies. The function is in `functions.sql`.
const SOME: &str = "SELECT * FROM quipu.page($1, $2, $3, $4, $5, $6)";
/// The first position from `$2` on, for logs with missing positions.
const NEXT: &str = "SELECT min(position) FROM quipu.commits WHERE field = $1 AND position >= $2";
const HEAD: &str = "SELECT position, epoch, hash FROM quipu.fields WHERE name = $1";
const FIELDS: &str = "SELECT name FROM quipu.fields WHERE position > 0 ORDER BY name";

/// What a page consists of: commits, headers or bodies.
pub(super) trait Item: Sized + Send + 'static {
    const HEADERS: bool;
    const BODIES: bool;

    fn of(row: &Row, bodies: Vec<StoredBody>) -> Result<Self, Damage>;
    fn position(&self) -> u64;
    fn bytes(&self) -> usize;
}

impl Item for Commit {
    const HEADERS: bool = true;
    const BODIES: bool = true;

    fn of(row: &Row, bodies: Vec<StoredBody>) -> Result<Self, Damage> {
        let position = position(row)?;
        let epoch = unsigned(row.get(2)).ok_or_else(|| wrong(position, "epoch"))?;
        let hash = |at: usize, column| hash(row.get(at)).ok_or_else(|| wrong(position, column));
        let header = row.get::<_, &[u8]>(5).into();
        Ok(Self { position, epoch, prev: hash(3, "prev")?, hash: hash(4, "hash")?, header, bodies })
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn bytes(&self) -> usize {
        self.stored_bytes()
    }
}

impl Item for StoredHeader {
    const HEADERS: bool = true;
    const BODIES: bool = false;

    fn of(row: &Row, _bodies: Vec<StoredBody>) -> Result<Self, Damage> {
        Ok(Self { position: position(row)?, json: row.get::<_, &[u8]>(5).into() })
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn bytes(&self) -> usize {
        self.json.len()
    }
}

impl Item for StoredBodies {
    const HEADERS: bool = false;
    const BODIES: bool = true;

    fn of(row: &Row, bodies: Vec<StoredBody>) -> Result<Self, Damage> {
        Ok(Self { position: position(row)?, bodies })
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn bytes(&self) -> usize {
        self.bodies.iter().map(|stored| present(stored).map_or(0, |body| body.json.len())).sum()
    }
}

const fn present(stored: &StoredBody) -> Option<&Body> {
    match &stored.content {
        BodyContent::Present(body) => Some(body),
        BodyContent::Erased => None,
    }
}

/// The items from `from` on, at most `limit`; `UnknownField` if there are none because the field does not exist.
pub(super) async fn page<T: Item>(
    pool: &Arc<Pool>,
    field: &FieldName,
    from: u64,
    limit: usize,
) -> Result<Vec<T>, EngineError> {
    let client = lease(pool, "read").await?;
    let mut items: Vec<T> = Vec::new();
    let (mut next, mut bytes) = (from.max(1), 0);
    while items.len() < limit && bytes < READ_BYTES_MAX {
        let wanted = (limit - items.len()).min(PAGE);
        let more: Vec<T> = some(&client, field, next, wanted, READ_BYTES_MAX - bytes).await?;
        let Some(last) = more.last() else { break };
        next = last.position().saturating_add(1);
        bytes += more.iter().map(T::bytes).sum::<usize>();
        items.extend(more);
    }
    if items.is_empty() {
        let head = find_head(&client, field).await?;
        let head = head.ok_or_else(|| EngineError::UnknownField { field: field.clone() })?;
        if head.position >= next {
            return behind_gap(&client, field, next, limit).await;
        }
    }
    Ok(items)
}

/// The items after missing positions. Whoever reads them notices the gap.
async fn behind_gap<T: Item>(
    client: &Client,
    field: &FieldName,
    from: u64,
    limit: usize,
) -> Result<Vec<T>, EngineError> {
    let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
    let name = field.as_str();
    let values: [(&(dyn ToSql + Sync), Type); 2] = [(&name, Type::TEXT), (&from, Type::INT8)];
    let found = client.query_typed_one(NEXT, &values).await;
    let found = found.map_err(|e| explain("read commits", e))?;
    match found.get::<_, Option<i64>>(0).and_then(unsigned) {
        Some(next) => some(client, field, next, limit.min(PAGE), READ_BYTES_MAX).await,
        None => Ok(Vec::new()),
    }
}

/// The items of the `limit` positions from `from` on, and no more once they are together larger than `bytes`.
pub(super) async fn some<T: Item>(
    client: &Client,
    field: &FieldName,
    from: u64,
    limit: usize,
    bytes: usize,
) -> Result<Vec<T>, EngineError> {
    // No commit has a position that does not fit.
    let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
    let signed = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let (name, end, bytes) = (field.as_str(), from.saturating_add(signed(limit)), signed(bytes));
    let values: [(&(dyn ToSql + Sync), Type); 6] = [
        (&name, Type::TEXT),
        (&from, Type::INT8),
        (&end, Type::INT8),
        (&bytes, Type::INT8),
        (&T::HEADERS, Type::BOOL),
        (&T::BODIES, Type::BOOL),
    ];
    let rows = client.query_typed(SOME, &values).await.map_err(|e| explain("read commits", e))?;
    let commits = rows.partition_point(|row| row.get::<_, Option<i32>>(1).is_none());
    let (commits, bodies) = rows.split_at(commits);
    let mut bodies: VecDeque<(u64, StoredBody)> =
        bodies.iter().map(body).collect::<Result<_, _>>()?;
    let mut items = Vec::with_capacity(commits.len());
    for row in commits {
        let position = position(row)?;
        let mut own = Vec::new();
        while bodies.front().is_some_and(|(at, _)| *at <= position) {
            own.extend(bodies.pop_front().filter(|(at, _)| *at == position).map(|(_, body)| body));
        }
        items.push(T::of(row, own)?);
    }
    Ok(items)
}

pub(super) async fn lease(pool: &Arc<Pool>, action: &str) -> Result<Lease, EngineError> {
    pool.lease().await.map_err(|e| io(action, e))
}

/// The head of a field; `None` if the field does not exist.
pub(super) async fn find_head(
    client: &Client,
    field: &FieldName,
) -> Result<Option<Head>, EngineError> {
    let name = field.as_str();
    let row = client.query_typed_opt(HEAD, &[(&name, Type::TEXT)]).await;
    let row = row.map_err(|e| explain("read the head", e))?;
    let head = row.map(|row| head_of(&row)).transpose()?;
    // A row without commits exists only for its fence.
    Ok(head.filter(|head| *head != Head::EMPTY))
}

/// The names of all fields in order.
pub(super) async fn fields(client: &Client) -> Result<Vec<FieldName>, EngineError> {
    let rows = client.query_typed(FIELDS, &[]).await.map_err(|e| explain("list fields", e))?;
    let names = rows.iter().map(|row| {
        let name: &str = row.get(0);
        FieldName::try_from(name).map_err(|e| Damage::storage(e.to_string()).into())
    });
    names.collect()
}

/// The head in the first three columns of a row.
pub(super) fn head_of(row: &Row) -> Result<Head, Damage> {
    let strange = || Damage::storage("the head of a field is not what was written");
    let position = unsigned(row.get(0)).ok_or_else(strange)?;
    let epoch = unsigned(row.get(1)).ok_or_else(strange)?;
    Ok(Head { position, epoch, hash: hash(row.get(2)).ok_or_else(strange)? })
}

fn body(row: &Row) -> Result<(u64, StoredBody), Damage> {
    let position = position(row)?;
    let event = u32::try_from(row.get::<_, i32>(1)).map_err(|_| wrong(position, "event"))?;
    let (salt, json): (Option<&[u8]>, Option<&[u8]>) = (row.get(3), row.get(4));
    let content = match (salt, json) {
        (None, None) => BodyContent::Erased,
        (Some(salt), Some(json)) => {
            let salt = <[u8; 16]>::try_from(salt).map_err(|_| wrong(position, "salt"))?;
            BodyContent::Present(Body { salt: Salt::from_bytes(salt), json: json.to_vec() })
        }
        (None, Some(_)) | (Some(_), None) => return Err(wrong(position, "salt")),
    };
    Ok((position, StoredBody { event, content }))
}

fn position(row: &Row) -> Result<u64, Damage> {
    unsigned(row.get(0)).ok_or_else(|| Damage::storage("a commit has a position below zero"))
}

fn unsigned(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}

fn hash(bytes: &[u8]) -> Option<Hash> {
    <[u8; 32]>::try_from(bytes).ok().map(Hash::from_bytes)
}

fn wrong(position: u64, column: &str) -> Damage {
    let reason = format!("column {column} is not what was written");
    Damage::new(position, DamageKind::StorageUnreadable(reason))
}
