//! The tables, their migrations, and what a server must guarantee before it is trusted with a log.

use tokio_postgres::Client;

use super::pool::Pool;
use crate::open_error::OpenError;

/// The oldest supported server version, in the server's own numbering.
const OLDEST: i32 = 130_000;

/// The key of an advisory lock: any number, the same for all nodes.
const MIGRATION_LOCK: i64 = 0x0071_7569_7075;

/// Each entry migrates the tables from the previous version; the first makes version 1. Entries are never changed.
/// Texts are stored as bytes, so that no encoding of the database can alter what was hashed.
const MIGRATIONS: [&str; 3] = [
    r#"
CREATE TABLE quipu.fields (
    name text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL,
    epoch bigint NOT NULL,
    hash bytea NOT NULL,
    sealed boolean NOT NULL DEFAULT false,
    fence bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
CREATE TABLE quipu.commits (
    field text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    epoch bigint NOT NULL,
    prev bytea NOT NULL,
    hash bytea NOT NULL,
    header bytea NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (field, position)
);
CREATE TABLE quipu.bodies (
    field text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    event integer NOT NULL,
    salt bytea,
    body bytea,
    PRIMARY KEY (field, position, event)
);
"#,
    r#"
CREATE TABLE quipu.notes (
    name text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    value bytea NOT NULL
);
"#,
    include_str!("functions.sql"),
];

/// The version that has the functions.
const FUNCTIONS: usize = 3;

const PROMISES: &str = "SELECT current_setting('server_version_num')::int, pg_is_in_recovery(), \
     current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')";

/// Refuses a server that could lose acknowledged commits.
pub(super) async fn check_server(client: &Client, pool: &Pool) -> Result<(), OpenError> {
    let unfit = |reason: &str, advice: &str| {
        let (reason, advice) = (reason.to_owned(), advice.to_owned());
        Err(OpenError::Unfit { server: pool.display().to_owned(), reason, advice })
    };
    let row = client.query_typed_one(PROMISES, &[]).await.map_err(|e| unreachable(pool, e))?;
    let (version, standby): (i32, bool) = (row.get(0), row.get(1));
    let (fsync, pages, commit): (&str, &str, &str) = (row.get(2), row.get(3), row.get(4));
    if version < OLDEST {
        let found = format!("it is PostgreSQL {}", version / 10_000);
        return unfit(&found, "use PostgreSQL 13 or newer");
    }
    if standby {
        return unfit(
            "it is a standby, which shows commits in another order than its primary",
            "give --log the address of the primary, or add target_session_attrs=read-write to one with several hosts",
        );
    }
    if fsync != "on" {
        return unfit(
            "fsync is off, so a crash can lose or tear what was acknowledged",
            "put `fsync = on` into postgresql.conf and restart the database",
        );
    }
    if commit == "off" {
        return unfit(
            "synchronous_commit is off, so a crash can lose what was acknowledged",
            "put `synchronous_commit = on` into postgresql.conf, or ALTER ROLE … SET synchronous_commit = on",
        );
    }
    if pages != "on" {
        tracing::warn!(
            "full_page_writes is off: safe only on a file system that never tears a page"
        );
    }
    Ok(())
}

/// Migrates the tables to this version. Nodes that start at the same time wait for each other.
pub(super) async fn migrate(client: &Client, pool: &Pool) -> Result<(), OpenError> {
    let failed = |e| unreachable(pool, e);
    let supported = MIGRATIONS.len();
    // A role without the right to create tables can still use them.
    let found = version(client).await.map_err(failed)?;
    if found > supported {
        return Err(newer(pool, found));
    }
    if found == supported {
        return Ok(());
    }
    let begin = format!(
        "BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK}); CREATE SCHEMA IF NOT EXISTS quipu; \
         CREATE TABLE IF NOT EXISTS quipu.format (version integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT now())"
    );
    let made = async {
        client.batch_execute(&begin).await?;
        let found = version(client).await?;
        for (at, migration) in MIGRATIONS.iter().enumerate().skip(found) {
            let version = at + 1;
            let note = format!(
                "INSERT INTO quipu.format (version) VALUES ({version}) ON CONFLICT DO NOTHING"
            );
            client.batch_execute(&format!("{migration};{note}")).await?;
        }
        client.batch_execute("COMMIT").await?;
        Ok(found)
    };
    match made.await {
        Ok(found) if found > supported => Err(newer(pool, found)),
        Ok(_) => Ok(()),
        Err(error) => {
            // The connection must not return to the pool inside a transaction.
            client.batch_execute("ROLLBACK").await.ok();
            Err(unreachable(pool, error))
        }
    }
}

async fn version(client: &Client) -> Result<usize, tokio_postgres::Error> {
    let there = "SELECT to_regclass('quipu.format') IS NOT NULL";
    if !client.query_typed_one(there, &[]).await?.get::<_, bool>(0) {
        return Ok(0);
    }
    let highest = "SELECT coalesce(max(version), 0) FROM quipu.format";
    let version: i32 = client.query_typed_one(highest, &[]).await?.get(0);
    let version = usize::try_from(version).unwrap_or_default();
    // A restored copy of the tables may lack the functions.
    let functions =
        "SELECT to_regproc('quipu.append') IS NOT NULL AND to_regproc('quipu.page') IS NOT NULL";
    let lacks_them =
        version == FUNCTIONS && !client.query_typed_one(functions, &[]).await?.get::<_, bool>(0);
    Ok(if lacks_them { FUNCTIONS - 1 } else { version })
}

fn newer(pool: &Pool, found: usize) -> OpenError {
    let as_u64 = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let server = pool.display().to_owned();
    OpenError::NewerFormat { server, found: as_u64(found), supported: as_u64(MIGRATIONS.len()) }
}

pub(super) fn unreachable(pool: &Pool, source: tokio_postgres::Error) -> OpenError {
    OpenError::Unreachable { server: pool.display().to_owned(), source: source.into() }
}
