//! Who asks, and with what right.

/// The actor behind a request, as its credential proved it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The agent that it is in the Field.
    pub agent: String,
    /// The authority of its credential, 0 to 10.
    pub authority: u8,
}
