//! PostgreSQL as the log: several nodes over the database that a team already runs.
//!
//! ```text
//! quipu.fields    name, position, epoch, hash, sealed, fence      one row for each field: its head
//! quipu.commits   field, position, epoch, prev, hash, header      the chain
//! quipu.bodies    field, position, event, salt, body              the texts, apart, so that one can be erased
//! quipu.notes     name, version, value                            what all nodes share beside the logs
//! ```
//!
//! An append is one statement: it moves the head row, if that row still holds the expected head, and inserts what
//! follows. The row stays locked until the commit, so positions are dense and visible in their order. Nodes that append
//! at the same time take turns: each holds the row from before it decides until its append is committed.

mod address;
mod append;
mod encode;
mod engine;
mod erase;
mod failure;
mod notes;
mod pool;
mod read;
mod schema;
mod tls;
mod turn;
mod watch;

pub use engine::PostgresEngine;
