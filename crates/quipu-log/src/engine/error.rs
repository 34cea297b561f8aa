//! Why an engine refuses or fails, and what is then true of the log.

use crate::{
    commit::{Damage, Head},
    field_name::FieldName,
};

/// Why an engine did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The expected head is not the field's head. Nothing was written.
    #[error("head moved: it is at position {} now", actual.position)]
    HeadMoved {
        /// The field's head.
        actual: Head,
    },
    /// The field takes no more appends.
    #[error("field {field} is sealed")]
    Sealed {
        /// The field.
        field: FieldName,
    },
    /// There is no room. Nothing was written; reads and later appends go on.
    #[error("storage is full")]
    Full,
    /// The storage cannot be reached or does not take the write now. Nothing was written, nothing of it will be, and a
    /// later append may succeed.
    #[error("cannot {action}: nothing was written")]
    Unavailable {
        /// What was being done.
        action: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An earlier write failed in a way that leaves the storage uncertain; reopen the engine. Reads go on.
    #[error("writer is poisoned until the engine is opened again: {reason}")]
    Poisoned {
        /// What failed.
        reason: String,
    },
    /// The stored log is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The storage answered with an error.
    #[error("cannot {action}")]
    Io {
        /// What was being done, naming the file or field.
        action: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The field does not exist.
    #[error("field {field} does not exist")]
    UnknownField {
        /// The field.
        field: FieldName,
    },
    /// The batch is not one that may be appended. Nothing was written.
    #[error("invalid batch at position {position}: {reason}")]
    InvalidBatch {
        /// The first wrong position.
        position: u64,
        /// What is wrong with it.
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
