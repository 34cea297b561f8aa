//! Why a Field cannot do now what a request rightly asks of it, beside what its log answers.

/// Why a Field cannot do it now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error("the Field is closed")]
    Closed,
    /// It takes no more writes until it is opened again.
    #[error("{reason}")]
    TakesNoWrites {
        /// What went wrong first.
        reason: String,
    },
    /// Units cannot be found by their words or their meaning yet.
    #[error("the texts are being read, {read} of {of} commits so far{}", after_colon(.trouble.as_ref()))]
    TextsBehind {
        /// How many commits were read.
        read: u64,
        /// Of how many.
        of: u64,
        /// What holds it up, if something does.
        trouble: Option<String>,
    },
    /// A commit is not what was written.
    #[error("the log failed at position {position}: {reason}")]
    CommitUnreadable {
        /// Where it is.
        position: u64,
        reason: String,
    },
    /// The log does not hold what a signature vouches for.
    #[error("a checkpoint of {signed} commits was signed, and the log has only {size} commits")]
    ShorterThanSigned {
        /// The commits that were signed.
        signed: u64,
        /// The commits that there are.
        size: u64,
    },
    /// The log holds something else than a signature vouches for.
    #[error("a checkpoint of {signed} commits was signed, and the log has another history by now")]
    OtherThanSigned {
        /// The commits that were signed.
        signed: u64,
    },
    /// Nobody knows what a signature would have to agree with.
    #[error("what was signed last cannot be read or written, so nothing is signed")]
    SignedUnknown,
    /// The log answers otherwise than when its tree was made.
    #[error("{reason}")]
    TreeUnreliable {
        /// What differs.
        reason: String,
    },
    /// A purged text is erased from the log, but not from everything that was made of it.
    #[error("{reason}")]
    NotErased {
        /// What could not be erased.
        reason: String,
    },
}

fn after_colon(text: Option<&String>) -> String {
    text.map(|text| format!(": {text}")).unwrap_or_default()
}
