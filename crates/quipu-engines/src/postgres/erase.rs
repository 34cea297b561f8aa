//! Erasing bodies, sealing a field and opening it again.

use std::sync::Arc;

use quipu_log::{BodyAddress, EngineError, Erasure, FieldName, Head};
use tokio_postgres::types::{ToSql, Type};

use super::{
    failure::explain,
    pool::Pool,
    read::{find_head, head_of, lease},
};

/// Locks the rows before it counts them, so that of two calls only one counts a body.
const ERASE: &str = "WITH named AS (SELECT DISTINCT position, event FROM unnest($2, $3) AS n (position, event)), \
     there AS (SELECT b.position, b.event, octet_length(b.body) AS bytes FROM quipu.bodies AS b, named AS n \
     WHERE b.field = $1 AND b.position = n.position AND b.event = n.event AND b.body IS NOT NULL \
     ORDER BY b.position, b.event FOR UPDATE OF b), \
     gone AS (UPDATE quipu.bodies AS b SET salt = NULL, body = NULL FROM there AS t \
     WHERE b.field = $1 AND b.position = t.position AND b.event = t.event) \
     SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM there";
/// The old version of an updated row stays in the table's file until it is vacuumed.
const VACUUM: &str = "VACUUM quipu.bodies";
const UNSEAL: &str = "UPDATE quipu.fields SET sealed = false WHERE name = $1 AND position > 0 RETURNING position, epoch, hash";
const SEALED: &str = "SELECT sealed FROM quipu.fields WHERE name = $1 AND position > 0";
const SEAL: &str = "UPDATE quipu.fields SET sealed = true WHERE name = $1 AND position > 0 RETURNING position, epoch, hash";

pub(super) async fn erase(
    pool: &Arc<Pool>,
    field: &FieldName,
    addresses: &[BodyAddress],
) -> Result<Erasure, EngineError> {
    let client = lease(pool, "erase bodies").await?;
    if find_head(&client, field).await?.is_none() {
        return Err(EngineError::UnknownField { field: field.clone() });
    }
    // No body has an address that does not fit into these types.
    let (positions, events): (Vec<i64>, Vec<i32>) = addresses
        .iter()
        .filter_map(|at| Some((i64::try_from(at.position).ok()?, i32::try_from(at.event).ok()?)))
        .unzip();
    if positions.is_empty() {
        return Ok(Erasure::default());
    }
    let name = field.as_str();
    let values: [(&(dyn ToSql + Sync), Type); 3] =
        [(&name, Type::TEXT), (&positions, Type::INT8_ARRAY), (&events, Type::INT4_ARRAY)];
    let row = client.query_typed_one(ERASE, &values).await;
    let row = row.map_err(|e| explain("erase bodies", e))?;
    // Also if nothing was left to erase: an earlier call may have failed before this.
    client.batch_execute(VACUUM).await.map_err(|e| explain("vacuum what was erased", e))?;
    let whole = |number: i64| u64::try_from(number).unwrap_or_default();
    Ok(Erasure { bodies_erased: whole(row.get(0)), bytes_reclaimed: whole(row.get(1)) })
}

pub(super) async fn is_sealed(pool: &Arc<Pool>, field: &FieldName) -> Result<bool, EngineError> {
    let client = lease(pool, "look at a field").await?;
    let row = client.query_typed_opt(SEALED, &[(&field.as_str(), Type::TEXT)]).await;
    Ok(row.map_err(|e| explain("look at a field", e))?.is_some_and(|row| row.get(0)))
}

/// Seals or unseals a field.
pub(super) async fn seal(
    pool: &Arc<Pool>,
    field: &FieldName,
    sealed: bool,
) -> Result<Head, EngineError> {
    let (action, statement) =
        if sealed { ("seal a field", SEAL) } else { ("unseal a field", UNSEAL) };
    let client = lease(pool, action).await?;
    let row = client.query_typed_opt(statement, &[(&field.as_str(), Type::TEXT)]).await;
    match row.map_err(|e| explain(action, e))? {
        Some(row) => Ok(head_of(&row)?),
        None => Err(EngineError::UnknownField { field: field.clone() }),
    }
}
