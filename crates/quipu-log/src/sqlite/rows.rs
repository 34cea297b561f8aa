//! Reads and writes rows of the table `commits`. A value of another type or size than was written is damage.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params, types::ValueRef};

use quipu_wire::hash::Hash;

use super::failure::explain;
use crate::{
    commit::{Commit, Damage, DamageKind, Head, StoredBodies, StoredBody, StoredHeader, bodies},
    engine::{EngineError, READ_BYTES_MAX},
};

const INSERT: &str = "INSERT INTO commits (position, epoch, prev, hash, header, bodies) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
pub(super) const READ: &str = "SELECT position, epoch, prev, hash, header, bodies FROM commits \
     WHERE position BETWEEN ?1 AND ?2 ORDER BY position LIMIT ?3";
const READ_HEADERS: &str = "SELECT position, header FROM commits WHERE position BETWEEN ?1 AND ?2 ORDER BY position LIMIT ?3";
const READ_BODIES: &str = "SELECT position, bodies FROM commits WHERE position BETWEEN ?1 AND ?2 ORDER BY position LIMIT ?3";
const LAST: &str = "SELECT position, epoch, prev, hash, header, bodies FROM commits ORDER BY position DESC LIMIT 1";
const HASH_AT: &str = "SELECT hash FROM commits WHERE position = ?1";

#[derive(Debug)]
pub(super) enum InsertError {
    Sql(rusqlite::Error),
    Invalid { position: u64, reason: String },
}

impl From<rusqlite::Error> for InsertError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

pub(super) fn inserter(connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    connection.prepare_cached(INSERT)
}

/// Writes one row. `text` is a buffer that is reused for each row.
pub(super) fn insert(
    statement: &mut CachedStatement<'_>,
    commit: &Commit,
    text: &mut String,
) -> Result<(), InsertError> {
    let position = commit.position;
    let invalid = |reason: String| InsertError::Invalid { position, reason };
    let header = std::str::from_utf8(&commit.header)
        .map_err(|_| invalid("its header is not UTF-8".to_owned()))?;
    bodies::encode_into(&commit.bodies, text).map_err(|e| invalid(e.to_string()))?;
    let bodies = (!text.is_empty()).then_some(text.as_str());
    let too_large = |_| invalid("its position or epoch is too large".to_owned());
    let row = i64::try_from(position).map_err(too_large)?;
    let epoch = i64::try_from(commit.epoch).map_err(too_large)?;
    statement.execute(params![
        row,
        epoch,
        commit.prev.as_bytes(),
        commit.hash.as_bytes(),
        header,
        bodies
    ])?;
    Ok(())
}

/// The commits from `from` to `to`, at most `limit`.
pub(super) fn read(
    connection: &Connection,
    from: u64,
    to: u64,
    limit: usize,
) -> Result<Vec<Commit>, EngineError> {
    page(connection, READ, from, to, limit, |row| {
        let commit = decode(row)?;
        let bytes = commit.stored_bytes();
        Ok((commit, bytes))
    })
}

/// The headers of the commits from `from` to `to`, at most `limit`.
pub(super) fn read_headers(
    connection: &Connection,
    from: u64,
    to: u64,
    limit: usize,
) -> Result<Vec<StoredHeader>, EngineError> {
    page(connection, READ_HEADERS, from, to, limit, |row| {
        let position = position(row)?;
        let json = header(row, 1, position)?;
        let bytes = json.len();
        Ok((StoredHeader { position, json }, bytes))
    })
}

/// The bodies of the commits from `from` to `to`, at most `limit`.
pub(super) fn read_bodies(
    connection: &Connection,
    from: u64,
    to: u64,
    limit: usize,
) -> Result<Vec<StoredBodies>, EngineError> {
    page(connection, READ_BODIES, from, to, limit, |row| {
        let position = position(row)?;
        let stored = StoredBodies { position, bodies: bodies(row, 1, position)? };
        let bytes = stored.bytes();
        Ok((stored, bytes))
    })
}

/// Collects the rows of a statement until the limit of rows or bytes is reached.
fn page<T>(
    connection: &Connection,
    statement: &str,
    from: u64,
    to: u64,
    limit: usize,
    decode: impl Fn(&Row<'_>) -> Result<(T, usize), Damage>,
) -> Result<Vec<T>, EngineError> {
    let sql = |e| explain("read commits", e);
    // No commit has a position that does not fit.
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let to = i64::try_from(to).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(statement).map_err(sql)?;
    let mut rows = statement.query(params![from, to, limit]).map_err(sql)?;
    let mut page = Vec::new();
    let mut bytes = 0;
    while bytes < READ_BYTES_MAX
        && let Some(row) = rows.next().map_err(sql)?
    {
        let (item, more) = decode(row)?;
        bytes += more;
        page.push(item);
    }
    Ok(page)
}

pub(super) fn last(connection: &Connection) -> Result<Option<Commit>, EngineError> {
    let sql = |e| explain("read the last commit", e);
    let mut statement = connection.prepare_cached(LAST).map_err(sql)?;
    let mut rows = statement.query([]).map_err(sql)?;
    rows.next().map_err(sql)?.map(|row| decode(row).map_err(Into::into)).transpose()
}

/// The head of the log as its last row states it.
pub(super) fn head(connection: &Connection) -> Result<Head, EngineError> {
    Ok(last(connection)?.map_or(Head::EMPTY, |commit| commit.head()))
}

pub(super) fn hash_at(connection: &Connection, position: u64) -> Result<Option<Hash>, EngineError> {
    let row = i64::try_from(position).unwrap_or(i64::MAX);
    let found: Option<Vec<u8>> = connection
        .query_row(HASH_AT, [row], |row| row.get(0))
        .optional()
        .map_err(|e| explain("read a hash", e))?;
    Ok(found.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()).map(Hash::from_bytes))
}

/// Whether the positions are exactly 1 to `last`.
pub(super) fn check_dense(connection: &Connection, last: u64) -> Result<(), EngineError> {
    let count: i64 = connection
        .query_row("SELECT count(*) FROM commits", [], |row| row.get(0))
        .map_err(|e| explain("count commits", e))?;
    if u64::try_from(count) == Ok(last) {
        return Ok(());
    }
    let reason = format!("{count} commits are stored but the last position is {last}");
    Err(Damage::storage(reason).into())
}

fn position(row: &Row<'_>) -> Result<u64, Damage> {
    let position = match row.get_ref(0) {
        Ok(ValueRef::Integer(position)) => u64::try_from(position).ok(),
        Ok(_) | Err(_) => None,
    };
    position.ok_or_else(|| Damage::storage("a commit without a position"))
}

fn header(row: &Row<'_>, column: usize, position: u64) -> Result<Box<[u8]>, Damage> {
    match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => Ok(bytes.into()),
        Ok(_) | Err(_) => Err(not_as_written(position, "header")),
    }
}

fn bodies(row: &Row<'_>, column: usize, position: u64) -> Result<Vec<StoredBody>, Damage> {
    match row.get_ref(column) {
        Ok(ValueRef::Null) => Ok(Vec::new()),
        Ok(ValueRef::Text(text)) => {
            bodies::decode(text).map_err(|e| Damage::new(position, DamageKind::BodiesUnreadable(e)))
        }
        Ok(_) | Err(_) => Err(not_as_written(position, "bodies")),
    }
}

fn not_as_written(position: u64, column: &str) -> Damage {
    let reason = format!("column {column} is not what was written");
    Damage::new(position, DamageKind::StorageUnreadable(reason))
}

fn decode(row: &Row<'_>) -> Result<Commit, Damage> {
    let position = position(row)?;
    let wrong = |column: &str| not_as_written(position, column);
    let hash = |index: usize, column: &str| match row.get_ref(index) {
        Ok(ValueRef::Blob(bytes)) => {
            <[u8; 32]>::try_from(bytes).map(Hash::from_bytes).map_err(|_| wrong(column))
        }
        Ok(_) | Err(_) => Err(wrong(column)),
    };
    let epoch = match row.get_ref(1) {
        Ok(ValueRef::Integer(epoch)) => u64::try_from(epoch).map_err(|_| wrong("epoch"))?,
        Ok(_) | Err(_) => return Err(wrong("epoch")),
    };
    let header = header(row, 4, position)?;
    let bodies = bodies(row, 5, position)?;
    Ok(Commit { position, epoch, prev: hash(2, "prev")?, hash: hash(3, "hash")?, header, bodies })
}
