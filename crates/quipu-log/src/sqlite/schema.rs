//! The database of one field: its tables, its identity and its settings. Knows nothing about rows.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{failure::explain, open_error::OpenError, options::SqliteOptions};
use crate::{commit::Damage, engine::EngineError};

/// "QPLG": identifies the file, also for `file(1)`.
const APPLICATION_ID: i64 = 0x5150_4c47;
/// The version of the tables below.
const VERSION: i64 = 1;
/// How long a connection waits for a lock. This engine holds locks only briefly, but an operator's tool may not.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// After how many pages in the write-ahead log the writer copies them into the database (4 MiB).
/// The copy happens inside one append. More pages make that append longer and the throughput no better, so only
/// the length of the pause decides.
const CHECKPOINT_PAGES: u32 = 1000;

const COMMITS: &str = "CREATE TABLE commits (position INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, \
     prev BLOB NOT NULL, hash BLOB NOT NULL, header TEXT NOT NULL, bodies TEXT) STRICT";
const META: &str =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// A log of this version.
    Log,
    /// Empty: a field whose creation was interrupted.
    Blank,
}

pub(super) fn open_writer(log: &Path) -> Result<Connection, EngineError> {
    let connection = connect(log, OpenFlags::SQLITE_OPEN_READ_WRITE, "open for writing")?;
    // SQLite opens a write-protected file without an error and fails only when it writes.
    match connection.is_readonly("main") {
        Ok(false) => Ok(connection),
        Ok(true) | Err(_) => {
            let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
            let source = OpenError::io("write to", log)(source);
            Err(EngineError::io("open the field", source))
        }
    }
}

pub(super) fn open_reader(log: &Path) -> Result<Connection, EngineError> {
    connect(log, OpenFlags::SQLITE_OPEN_READ_ONLY, "open for reading")
}

/// Opens a database on read-only storage, where not even the shared index can be written. Nobody may be writing to
/// it.
pub(super) fn open_immutable(log: &Path) -> Result<Connection, EngineError> {
    let mut uri = String::from("file:");
    for byte in log.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect(Path::new(&uri), flags, "open as immutable")
}

fn connect(path: &Path, flags: OpenFlags, action: &str) -> Result<Connection, EngineError> {
    let action = format!("{action} {}", path.display());
    let open = || {
        let connection =
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // A refused log must stay as it was found; closing would empty its write-ahead log.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // Without this, a statement with a limit is planned again for every bound number, which costs more than
        // reading a commit.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.execute_batch(
            "PRAGMA mmap_size=0; PRAGMA cache_size=-2048; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;",
        )?;
        Ok(connection)
    };
    open().map_err(|e| explain(&action, e))
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Compares the identity, the version and the tables' definitions with what this version writes.
pub(super) fn identify(connection: &Connection, path: &Path) -> Result<Identity, EngineError> {
    let read = || {
        let mut tables = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY rowid")?;
        let tables = tables.query_map([], |row| row.get::<_, Option<String>>(0))?;
        let tables = tables.collect::<rusqlite::Result<Vec<_>>>()?;
        Ok((number(connection, "application_id")?, number(connection, "user_version")?, tables))
    };
    let (id, version, tables) =
        read().map_err(|e| explain(&format!("read the schema of {}", path.display()), e))?;
    if id == 0 && version == 0 && tables.is_empty() {
        return Ok(Identity::Blank);
    }
    let file = path.display();
    if id != APPLICATION_ID {
        let reason = format!("{file} has application id {id:#x}, a log has {APPLICATION_ID:#x}");
        return Err(Damage::storage(reason).into());
    }
    if version > VERSION {
        let (found, supported) = (version.unsigned_abs(), VERSION.unsigned_abs());
        let source = OpenError::NewerFormat { path: path.to_owned(), found, supported };
        return Err(EngineError::io(format!("open {file}"), source));
    }
    let expected = [COMMITS, META];
    let same = tables.len() == expected.len()
        && tables.iter().zip(expected).all(|(found, sql)| found.as_deref() == Some(sql));
    if version != VERSION || !same {
        let reason = format!("{file} has version {version} and tables that version 1 never wrote");
        return Err(Damage::storage(reason).into());
    }
    Ok(Identity::Log)
}

/// Creates the tables in an empty database and moves them from the write-ahead log into the file.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    use_wal(connection)?;
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {COMMITS}; {META}; PRAGMA application_id={APPLICATION_ID}; \
         PRAGMA user_version={VERSION}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);"
    ))
}

fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA fullfsync=ON; PRAGMA checkpoint_fullfsync=ON;",
    )
}

/// The settings of the one connection that writes.
pub(super) fn configure_writer(
    connection: &Connection,
    options: SqliteOptions,
) -> rusqlite::Result<()> {
    use_wal(connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.execute_batch(&format!(
        "PRAGMA secure_delete=ON; PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}; PRAGMA cache_size=-8192;"
    ))?;
    limit_pages(connection, options)
}

/// Sets the maximum number of pages. SQLite never goes below the current number.
pub(super) fn limit_pages(connection: &Connection, options: SqliteOptions) -> rusqlite::Result<()> {
    let pages = match options.max_log_bytes {
        Some(bytes) => bytes.checked_div(number(connection, "page_size")?.unsigned_abs()),
        None => None,
    };
    // The largest number that SQLite takes.
    let pages = pages.map_or(4_294_967_294, |pages| pages.clamp(1, 4_294_967_294));
    connection.execute_batch(&format!("PRAGMA max_page_count={pages};"))
}

/// Copies the whole write-ahead log into the database and truncates it; false if a reader prevented it.
pub(super) fn checkpoint_truncate(connection: &Connection) -> rusqlite::Result<bool> {
    let busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    Ok(busy == 0)
}
