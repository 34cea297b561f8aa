//! What can be wrong with a stored log, named by position.
//! Only names damage; finding it is the business of `Commit::verify` and of the engines.

/// One piece of damage and the position at which the log stops being trustworthy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("position {position}: {kind}")]
pub struct Damage {
    /// The first position that cannot be trusted; 0 when the storage as a whole is meant.
    pub position: u64,
    /// What is wrong there.
    pub kind: DamageKind,
}

impl Damage {
    /// Names damage at a position.
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

/// The kinds of damage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DamageKind {
    /// Positions are not dense.
    #[error("expected position {expected} here")]
    Gap {
        /// The position that should have come.
        expected: u64,
    },
    /// The commit does not follow the one before it.
    #[error("previous hash does not match the commit before")]
    PrevMismatch,
    /// The stored header is not the one that was hashed.
    #[error("header hash does not match")]
    HashMismatch,
    /// The header is not one that this version can read.
    #[error("header unreadable: {0}")]
    HeaderUnreadable(String),
    /// A stored column says something else than the header.
    #[error("stored {column} does not match the header")]
    ColumnMismatch {
        /// The column.
        column: &'static str,
    },
    /// The epoch does not grow.
    #[error("epoch {epoch} is not greater than {before}")]
    EpochNotIncreasing {
        /// The epoch of this commit.
        epoch: u64,
        /// The epoch of the commit before.
        before: u64,
    },
    /// A body is not the one that the header commits to.
    #[error("body of event {event} does not match its commitment")]
    BodyMismatch {
        /// The index of the event in its commit.
        event: u32,
    },
    /// The header commits to a body that is neither present nor marked as erased.
    #[error("body of event {event} is missing")]
    BodyMissing {
        /// The index of the event in its commit.
        event: u32,
    },
    /// A body that the header does not commit to, or a second one for the same event.
    #[error("body of event {event} has no commitment")]
    StrayBody {
        /// The index of the event in its commit.
        event: u32,
    },
    /// The bodies are not in the form in which they were stored.
    #[error("bodies unreadable: {0}")]
    BodiesUnreadable(String),
    /// Commits that had been acknowledged are not there.
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
    /// The mark of the last acknowledged position cannot be read.
    #[error("head mark unreadable: {0}")]
    HeadMarkUnreadable(String),
    /// The storage beneath cannot be read.
    #[error("storage unreadable: {0}")]
    StorageUnreadable(String),
}
