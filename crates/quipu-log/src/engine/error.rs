//! Why an engine refuses or fails, and what is then true of the log.

use crate::{
    commit::{Damage, Head},
    field_name::FieldName,
};

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The expected head is not the field's head. Nothing was written.
    #[error("head moved: it is at position {} now", actual.position)]
    HeadMoved { actual: Head },
    #[error("field {field} is sealed")]
    Sealed { field: FieldName },
    /// There is no room. Nothing was written; reads and later appends go on.
    #[error("storage is full")]
    Full,
    /// The storage cannot be reached or does not take the write now. Nothing was written, nothing of it will be, and a
    /// later append may succeed.
    #[error("cannot {action}: nothing was written")]
    Unavailable {
        action: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An earlier write failed in a way that leaves the storage uncertain; reopen the engine. Reads go on.
    #[error("writer is poisoned until the engine is opened again: {reason}")]
    Poisoned { reason: String },
    #[error(transparent)]
    Damaged(#[from] Damage),
    #[error("cannot {action}")]
    Io {
        /// What was being done, naming the file or field.
        action: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("field {field} does not exist")]
    UnknownField { field: FieldName },
    /// The batch is not one that may be appended. Nothing was written.
    #[error("invalid batch at position {position}: {reason}")]
    InvalidBatch {
        /// The first wrong position.
        position: u64,
        reason: String,
    },
}

impl EngineError {
    pub(crate) fn io(
        action: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Io { action: action.into(), source: source.into() }
    }
}
