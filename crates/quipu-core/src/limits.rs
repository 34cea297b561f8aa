//! The bounds that the rules keep.

/// The most recent commits whose message ids are remembered for idempotency.
pub const MESSAGE_WINDOW: usize = 1_000_000;
/// The units of others that may give way to those of one sender within so many commits, where its authority is below
/// the next.
pub const REPLACED_MAX: usize = 5;
/// The commits within which they are counted, the newest.
pub const REPLACED_WITHIN: u64 = 1_000;
/// The time within which they are counted too, in milliseconds: whoever counts may write as many commits as it likes.
pub const REPLACED_WITHIN_MS: u64 = 24 * 60 * 60 * 1000;
/// What is looked at for it. Who has more has replaced too many.
pub const REPLACERS_LOOKED_AT_MAX: usize = 1_000;
/// The authority that may replace more of them.
pub const REPLACE_MANY_AUTHORITY: u8 = 8;
/// Traced ATTUNEs that a unit remembers as what its author was shown before it, the most recent.
pub const TRACES_BEFORE_UNIT_MAX: usize = 16;
/// Sessions, tasks or handoffs that one answer carries at most.
pub const LIST_RETURNED_MAX: usize = 1000;
/// Units, questions and conflicts that the Field adds to a handoff at most, of each.
pub const HANDOFF_UNITS_MAX: usize = 256;
/// The ballots that a vote takes at least, however few may vote.
pub const VOTE_QUORUM_MIN: u32 = 2;
pub const SUBSCRIPTIONS_PER_AGENT_MAX: usize = 256;
pub const COMPACT_NAMED_MAX: usize = 1000;
