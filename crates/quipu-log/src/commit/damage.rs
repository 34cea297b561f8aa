//! What can be wrong with a stored log, named by position.
//! Only names damage; finding it is the business of `Commit::verify` and of the engines.

/// One piece of damage and the position at which the log stops being trustworthy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("position {position}: {kind}")]
pub struct Damage {
    /// The first position that cannot be trusted; 0 when the storage as a whole is meant.
    pub position: u64,
    pub kind: DamageKind,
}

impl Damage {
    #[must_use]
    pub const fn new(position: u64, kind: DamageKind) -> Self {
        Self { position, kind }
    }

    /// Damage of the storage as a whole, where no single position can be named.
    #[must_use]
    pub fn storage(reason: impl Into<String>) -> Self {
        Self { position: 0, kind: DamageKind::StorageUnreadable(reason.into()) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DamageKind {
    #[error("expected position {expected} here")]
    Gap { expected: u64 },
    #[error("previous hash does not match the commit before")]
    PrevMismatch,
    #[error("header hash does not match")]
    HashMismatch,
    #[error("header unreadable: {0}")]
    HeaderUnreadable(String),
    #[error("stored {column} does not match the header")]
    ColumnMismatch { column: &'static str },
    #[error("epoch {epoch} is not greater than {before}")]
    EpochNotIncreasing { epoch: u64, before: u64 },
    #[error("body of event {event} does not match its commitment")]
    BodyMismatch { event: u32 },
    #[error("body of event {event} is missing")]
    BodyMissing { event: u32 },
    /// A body that the header does not commit to, or a second one for the same event.
    #[error("body of event {event} has no commitment")]
    StrayBody { event: u32 },
    #[error("bodies unreadable: {0}")]
    BodiesUnreadable(String),
    #[error(
        "log ends at {ends_at} but {acknowledged} was acknowledged (if an older backup was restored on purpose, delete the field's `head` file)"
    )]
    Truncated {
        /// The last position in the log.
        ends_at: u64,
        /// The last position known to have been acknowledged.
        acknowledged: u64,
    },
    /// The log has another commit here than the one that was acknowledged.
    #[error(
        "commit is not the one that was acknowledged (if an older backup was restored on purpose, delete the field's `head` file)"
    )]
    NotAcknowledged,
    #[error("head mark unreadable: {0}")]
    HeadMarkUnreadable(String),
    #[error("storage unreadable: {0}")]
    StorageUnreadable(String),
}
