//! Notes: one row each, replaced where it has the expected version.

use std::sync::Arc;

use quipu_log::{EngineError, Note, engine::check_note};
use tokio_postgres::types::{ToSql, Type};

use super::{
    failure::{Fate, explain, fate, io, unavailable},
    pool::Pool,
    read::lease,
};

const GET: &str = "SELECT version, value FROM quipu.notes WHERE name = $1";
const MAKE: &str = "INSERT INTO quipu.notes (name, version, value) VALUES ($1, $2 + 1, $3) \
     ON CONFLICT (name) DO NOTHING RETURNING version";
const REPLACE: &str = "UPDATE quipu.notes SET version = version + 1, value = $3 \
     WHERE name = $1 AND version = $2 RETURNING version";

pub(super) async fn get(pool: &Arc<Pool>, name: &str) -> Result<Option<Note>, EngineError> {
    let client = lease(pool, "read a note").await?;
    let row = client.query_typed_opt(GET, &[(&name, Type::TEXT)]).await;
    let row = row.map_err(|e| explain("read a note", e))?;
    Ok(row.map(|row| Note { version: version(row.get(0)), bytes: row.get(1) }))
}

pub(super) async fn put(
    pool: &Arc<Pool>,
    name: &str,
    expected: u64,
    bytes: &[u8],
) -> Result<Option<u64>, EngineError> {
    check_note(name, bytes)?;
    let client = pool.lease().await.map_err(|e| unavailable("write a note", e))?;
    // No note ever had a version that does not fit.
    let Ok(from) = i64::try_from(expected) else { return Ok(None) };
    let statement = if from == 0 { MAKE } else { REPLACE };
    let values: [(&(dyn ToSql + Sync), Type); 3] =
        [(&name, Type::TEXT), (&from, Type::INT8), (&bytes, Type::BYTEA)];
    match client.query_typed_opt(statement, &values).await {
        Ok(row) => Ok(row.map(|row| version(row.get(0)))),
        Err(error) => Err(match fate(&error) {
            Fate::Full => EngineError::Full,
            Fate::Undone => unavailable("write a note", error),
            Fate::Unknown => io("write a note", error),
        }),
    }
}

fn version(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
