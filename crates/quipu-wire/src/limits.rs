//! Every limit on what a client may send, as a named constant. A limit is part of the contract:
//! the error that enforces it names the field and the limit.

/// The version of the Akashik Protocol that is spoken here.
pub const PROTOCOL_VERSION: &str = "0.1.0";
/// The largest epoch, position or size that JSON can carry exactly (2^53 - 1).
pub const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;
/// How far one message may be ahead of a Field's clock, which it pushes there. Agents that keep a clock of their
/// own are ahead by a few.
pub const EPOCH_JUMP_MAX: u64 = 1_000;
/// How far the messages of one key may push clocks ahead before they have to wait.
pub const EPOCH_LEAD_MAX: u64 = 4_000;
/// The largest request body, before parsing.
pub const REQUEST_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How many bytes of entries one page of a list holds; one entry that is larger comes alone.
pub const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
pub const CONTENT_BYTES_MAX: usize = 1024 * 1024;
/// The largest single free text besides `content` (purpose, reasoning, an evidence entry, a hint).
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// The longest identifier (agent, task, session, unit, message, role).
pub const ID_BYTES_MAX: usize = 256;
/// The most entries in any list of texts (evidence, assumptions, interests, filters).
pub const LIST_ENTRIES_MAX: usize = 256;
/// The largest file of a workspace. Written as JSON with little to escape it fits into a request.
pub const WORKSPACE_FILE_BYTES_MAX: usize = 3 * 1024 * 1024;
pub const RECORD_UNITS_MAX: usize = 256;
pub const RELATIONS_MAX: usize = 256;
/// The most units that one ATTUNE returns; a larger `max_units` is read as this one.
pub const ATTUNE_UNITS_MAX: usize = 10_000;
/// The longest reason of a COMPACT, which stays in the log for ever.
pub const COMPACT_REASON_BYTES_MAX: usize = 1024;
pub const COMPACT_UNITS_MAX: usize = 10_000;
/// The most rows of the table of least authorities that one change sets: each type in each mode, and some said twice.
pub const LEAST_AUTHORITY_ROWS_MAX: usize = 64;
/// The most units that one REPLAY thinks away.
pub const REPLAY_WITHOUT_MAX: usize = 64;
pub const RESTORE_UNITS_MAX: usize = 1000;
/// The highest authority: a human operator.
pub const AUTHORITY_MAX: u8 = 10;
pub const PRIORITY_MAX: u8 = 10;
/// The priority of a task whose maker names none.
pub const PRIORITY_DEFAULT: u8 = 5;
pub const LEASE_MS_MIN: u64 = 1;
/// The longest lease of a task: a week.
pub const LEASE_MS_MAX: u64 = 7 * 24 * 60 * 60 * 1000;
/// The longest `debounce_ms` of a subscription: an hour.
pub const DEBOUNCE_MS_MAX: u64 = 3_600_000;
