//! The bounds of a Field's own queues, caches and windows.

/// Commands that may wait for the writer; one more is answered `OVERLOADED`.
pub const QUEUE_COMMANDS_MAX: usize = 4096;
/// Commands that one sync may cover.
pub const BATCH_COMMANDS_MAX: usize = 1024;
/// How far reads may push the clock beyond the last logged epoch. After a crash the clock resumes
/// this far ahead, so that no epoch that a reader was told is ever given to a later unit.
pub const CLOCK_RESERVE: u64 = 1024;
/// The most recent commits whose message ids are remembered for idempotency.
pub const MESSAGE_WINDOW: usize = 1_000_000;
/// Bytes of unit bodies kept in memory.
pub const BODY_CACHE_BYTES: usize = 32 * 1024 * 1024;
/// Commits read from the log at a time.
pub const READ_PAGE: usize = 1024;
/// Commits since the last snapshot after which the next one is made, at least.
pub const SNAPSHOT_COMMITS_MIN: u64 = 20_000;
/// ... and as a share of the log, so that the cost of snapshots stays a share of the work.
pub const SNAPSHOT_SHARE: u64 = 8;
/// Fields up to this many eligible units are ranked exactly; beyond, candidates are chosen first.
pub const EXACT_RANK_UNITS_MAX: usize = 4096;
/// Candidates from each source where candidates are chosen.
pub const CANDIDATES_PER_SOURCE: usize = 512;
/// Conflicts that one answer carries at most.
pub const CONFLICTS_RETURNED_MAX: usize = 10_000;
/// Tokens of an extract, where a unit is returned as a summary.
pub const SUMMARY_TOKENS: usize = 64;
/// Subscriptions that one agent may have.
pub const SUBSCRIPTIONS_PER_AGENT_MAX: usize = 256;
/// Commits that are read at a time for a subscriber that is behind.
pub const PUSH_PAGE: usize = 64;
/// Bytes of recent commits that are kept ready for subscribers.
pub const PUSH_TAIL_BYTES: usize = 16 * 1024 * 1024;
/// Tokens of the text that a push carries.
pub const PUSH_SUMMARY_TOKENS: usize = 48;
/// Things about which one debounced stream remembers when it told of them last.
pub const DEBOUNCED_THINGS_MAX: usize = 16 * 1024;
