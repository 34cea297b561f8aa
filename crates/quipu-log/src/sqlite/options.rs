//! The options of the SQLite engine. Durability is not optional.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SqliteOptions {
    /// The largest size of one field's database file; beyond it appends answer `Full`.
    /// The write-ahead log beside it is not counted: it is bounded by the checkpoints.
    pub max_log_bytes: Option<u64>,
}
