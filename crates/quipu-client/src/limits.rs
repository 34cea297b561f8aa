//! Every limit of the client as a named constant.

use std::time::Duration;

/// How long making a connection may take.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an answer may take, if the options do not say.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
pub(crate) const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
pub(crate) const EVENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long a stream may say nothing at all. A server says that it is there every 15 seconds.
pub(crate) const SILENCE: Duration = Duration::from_secs(60);
/// How many connections are kept for the next request.
pub(crate) const IDLE_CONNECTIONS_MAX: usize = 16;
/// How much of an answer that is not understood is shown.
pub(crate) const EXCERPT_CHARS: usize = 200;
/// The longest pause that a server can ask for.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
