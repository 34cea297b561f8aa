//! The twelve operations. This is the only list of them: every layer matches it without a wildcard,
//! so a new operation does not compile until each layer answers for it.

use crate::words::words;

words! {
    /// What a message asks the Field to do.
    Operation {
        /// Joins the Field.
        Register = "REGISTER",
        /// Leaves the Field.
        Deregister = "DEREGISTER",
        /// Adds a memory unit.
        Record = "RECORD",
        /// Asks for ranked context.
        Attune = "ATTUNE",
        /// Lists or looks for conflicts.
        Detect = "DETECT",
        /// Resolves a conflict.
        Merge = "MERGE",
        /// Asks to be told of events.
        Subscribe = "SUBSCRIBE",
        /// Reconstructs how something came about.
        Replay = "REPLAY",
        /// Archives, summarizes or purges old units.
        Compact = "COMPACT",
        /// Moves a task through its life.
        Coordinate = "COORDINATE",
        /// Hands a task and its context to another agent.
        Handoff = "HANDOFF",
        /// Opens, pauses and ends sessions.
        Session = "SESSION",
    }
}

impl Operation {
    /// The operations that this version carries out; the others answer `UNSUPPORTED_OPERATION`.
    pub const SUPPORTED: [Self; 12] = [
        Self::Register,
        Self::Deregister,
        Self::Record,
        Self::Attune,
        Self::Detect,
        Self::Merge,
        Self::Subscribe,
        Self::Replay,
        Self::Compact,
        Self::Coordinate,
        Self::Handoff,
        Self::Session,
    ];

    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Register => "/v1/register",
            Self::Deregister => "/v1/deregister",
            Self::Record => "/v1/record",
            Self::Attune => "/v1/attune",
            Self::Detect => "/v1/detect",
            Self::Merge => "/v1/merge",
            Self::Subscribe => "/v1/subscribe",
            Self::Replay => "/v1/replay",
            Self::Compact => "/v1/compact",
            Self::Coordinate => "/v1/coordinate",
            Self::Handoff => "/v1/handoff",
            Self::Session => "/v1/session",
        }
    }
}
