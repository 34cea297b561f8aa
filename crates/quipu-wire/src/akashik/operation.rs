//! The twelve operations. This is the only list of them: every layer matches it without a wildcard,
//! so a new operation does not compile until each layer answers for it.

use super::words::words;

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
}
