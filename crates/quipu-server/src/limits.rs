//! Every limit of the HTTP surface as a named constant. What a payload may hold is limited in
//! `quipu_wire::limits`.

use std::time::Duration;

/// The most connections at one time, where there are file handles for them; the next one waits to be accepted.
pub(crate) const CONNECTIONS_MAX: usize = 16 * 1024;
/// How many there may be at least, however few file handles there are.
pub(crate) const CONNECTIONS_LEAST: usize = 8;
/// How many file handles are asked for: nobody needs more, and some systems have no limit of their own.
pub(crate) const FILE_HANDLES_MAX: u64 = 1024 * 1024;
/// How many of the connections may be ones on which no key was proven yet.
pub(crate) const STRANGERS_MAX: usize = 1024;
/// How many of these may come from one address.
pub(crate) const STRANGERS_ADDRESS_MAX: usize = 256;
/// Of the connections that are not for strangers, one key may have one in so many.
pub(crate) const KEY_CONNECTIONS_SHARE: usize = 2;
/// Three in so many may come from one address.
pub(crate) const ADDRESS_CONNECTIONS_SHARE: usize = 4;
/// Of the streams that may be open, one key may have one in so many.
pub(crate) const KEY_STREAMS_SHARE: usize = 2;
/// How long a connection may be idle on which no key was proven.
pub(crate) const STRANGER_IDLE: Duration = Duration::from_secs(10);
/// How many bytes of large bodies may be in memory of those who have proven nothing yet.
pub(crate) const STRANGERS_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How many of these may come from one address.
pub(crate) const STRANGERS_ADDRESS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How large the head of a request may be; twice as much is read ahead.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long the head of a request may take, and how long a connection may be idle.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a caller may take nothing of what it is sent, if the options do not say.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait after the operating system could not give us a connection.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Bodies up to this size are read without asking for room first: together they are bounded by the
/// number of connections. It is also all that is read of a caller without a valid key.
pub(crate) const SMALL_BODY_BYTES: usize = 16 * 1024;
/// How many bytes of larger bodies may be in memory at one time.
pub(crate) const LARGE_BODIES_BYTES_MAX: usize = 128 * 1024 * 1024;
/// How many of these may be one key's: as many as the largest body has, and not all of them.
pub(crate) const KEY_BODIES_BYTES_MAX: usize = LARGE_BODIES_BYTES_MAX / 2;
/// How much of a body that is too large is read and thrown away, so that the sender gets to read
/// the answer instead of a reset connection.
pub(crate) const DRAIN_BYTES_MAX: usize = 72 * 1024 * 1024;
/// How many Fields may be in use at one time, so that none of them can be put away: each has threads of its own.
pub(crate) const FIELDS_IN_USE_MAX: usize = 1024;
/// The longest `X-Request-Id` that is taken over.
pub(crate) const REQUEST_ID_BYTES_MAX: usize = 64;
/// A request that takes longer is logged as slow.
pub(crate) const SLOW_REQUEST: Duration = Duration::from_secs(1);
/// How many requests a key may send a second for long, if the options do not say.
pub const REQUESTS_PER_SECOND: u32 = 2000;
/// How many seconds' worth of them it may send at once.
pub(crate) const BURST: Duration = Duration::from_secs(5);
/// How often a running server looks whether a file of keys has changed.
pub(crate) const KEYS_CHECK_MS: u64 = 500;
/// How often a node looks at the keys that all nodes share.
pub(crate) const KEYS_SHARED_CHECK: Duration = Duration::from_millis(250);
/// How long a node that starts waits for a log that does not answer.
pub(crate) const KEYS_START_WAIT: Duration = Duration::from_secs(60);
/// Whoever takes so long to refuse has not answered.
pub(crate) const KEYS_SILENCE: Duration = Duration::from_secs(3);
/// How long keys stay good while the storage that all nodes share cannot be read.
pub(crate) const KEYS_UNREAD_MAX: Duration = Duration::from_secs(300);
/// The longest access token; those of identity providers have one to three thousand bytes.
pub(crate) const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// How far the clocks of an identity provider and ours may be apart, in seconds.
pub(crate) const TOKEN_LEEWAY_S: u64 = 30;
/// The authority of an access token that says nothing of it.
pub(crate) const TOKEN_AUTHORITY: u8 = 5;
/// The largest file of public keys that is read.
pub(crate) const KEY_SET_BYTES_MAX: u64 = 1024 * 1024;
/// The authority that may bring a Field into being.
pub(crate) const CREATE_FIELD_AUTHORITY: u8 = 8;
/// The authority that may read what a Field holds.
pub(crate) const READ_AUTHORITY: u8 = quipu_core::visibility::READ_AUTHORITY;
/// The authority to read the log itself, across all sessions.
pub(crate) const LOG_AUTHORITY: u8 = 8;
/// The authority to make and revoke keys.
pub(crate) const KEYS_AUTHORITY: u8 = 10;
pub(crate) const KEY_LABEL_BYTES_MAX: usize = 256;
/// The units of a page of the list, where nobody says how many.
pub(crate) const UNITS_PAGE: usize = 50;
/// The commits of a page of the log, where nobody says how many.
pub(crate) const LOG_PAGE_COMMITS: usize = 100;
/// How often tasks are looked for whose lease has run out, and Fields that nobody uses.
pub(crate) const LEASE_CHECK: Duration = Duration::from_secs(1);
/// How often the samples of the histograms are summed up.
pub(crate) const METRICS_UPKEEP: Duration = Duration::from_secs(5);
/// How long a session of MCP is kept that nobody uses: hosts keep one open for a working day.
pub(crate) const MCP_SESSION_IDLE: Duration = Duration::from_secs(12 * 60 * 60);
/// How many sessions of MCP there may be; the one that was used longest ago ends for a new one.
pub(crate) const MCP_SESSIONS_MAX: usize = 4096;
/// How many of them may be one key's.
pub(crate) const MCP_SESSIONS_PER_KEY_MAX: usize = 1024;
/// How many streams of pushes may be open at one time, if the options do not say: fewer than connections,
/// so that they leave room.
pub(crate) const STREAMS_MAX: usize = 12 * 1024;
/// How often a stream says that it is there, and looks whether its key still holds, if the options do
/// not say.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long to wait for the other side's farewell after ours.
pub(crate) const FAREWELL: Duration = Duration::from_secs(2);
/// The largest command that is read from the other side of a Task's stream.
pub(crate) const STREAM_COMMAND_BYTES_MAX: usize = 256 * 1024;
/// The largest message that is read from a subscriber, who has nothing to say.
pub(crate) const STREAM_MESSAGE_BYTES_MAX: usize = 4096;
/// How often the default Field is opened at the start, where its log is on servers that do not answer yet. An attempt may
/// wait for them for seconds.
pub(crate) const OPEN_ATTEMPTS: usize = 10;
/// The pause between two of them.
pub(crate) const OPEN_PAUSE: Duration = Duration::from_millis(500);
