//! The default engine: one SQLite database for each field, in WAL mode, synced before every answer.
//!
//! ```text
//! DIR/lock                        held by the one process that may write
//! DIR/format                      "quipu-data 1"
//! DIR/fields/NAME/log.sqlite      the commits; -wal and -shm beside it while it is open
//! DIR/fields/NAME/head            the last acknowledged position, in two slots
//! ```

mod check;
mod engine;
mod erase;
mod failure;
mod field_log;
mod head_mark;
mod layout;
mod open_error;
mod options;
mod readers;
mod rows;
mod schema;
#[cfg(test)]
mod tests;
mod writer;

pub use check::{check_files, check_storage};
pub use engine::SqliteEngine;
pub use open_error::OpenError;
pub use options::SqliteOptions;
