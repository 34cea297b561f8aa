//! A stretch of a Field's log (`GET /v1/log`). Ours: headers alone, so no free text is in it, erased
//! or not, and each commit's hash can be checked by whoever reads it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Commits of a log, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogPage {
    /// The commits.
    pub commits: Vec<LogEntry>,
    /// Where the log ends now.
    pub head: LogHead,
    /// The `from` of the next page; null where this one reaches the head.
    pub next_from: Option<u64>,
}

/// One commit without its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogEntry {
    /// Dense, from 1.
    pub position: u64,
    /// SHA-256 of the header in canonical JSON.
    pub hash: String,
    /// Epoch, time, actor, session, request, events, and the hash of the commit before.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub header: Value,
}

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LogHead {
    /// The last commit's position, 0 if there is none.
    pub position: u64,
    /// Its epoch.
    pub epoch: u64,
    /// Its hash.
    pub hash: String,
}
