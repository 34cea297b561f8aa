//! A stretch of a Field's units (`GET /v1/units`). Ours: for who looks through a Field; an agent asks ATTUNE.

use serde::{Deserialize, Serialize};

use super::{MemoryType, MemoryUnit, UnitStatus};
use crate::words::words;

words! {
    /// In which order units are listed.
    UnitOrder {
        /// The last recorded first.
        Newest = "newest",
        /// The first recorded first. A unit keeps its place in this order while more are recorded.
        Oldest = "oldest",
    }
}

/// Which units, and which of them. Parts are combined with AND, an absent part holds for all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnitQuery {
    pub memory_type: Option<MemoryType>,
    pub status: Option<UnitStatus>,
    pub agent: Option<String>,
    pub session: Option<String>,
    pub task: Option<String>,
    /// Recorded at this time or later, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Recorded at this time or earlier.
    pub until_ms: Option<u64>,
    /// That relate to this unit.
    pub relates_to: Option<String>,
    /// That have every one of these words, in whatever form.
    pub words: Option<String>,
    /// In which order; the newest first if absent.
    pub order: Option<UnitOrder>,
    /// How many of those are passed over.
    pub skip: usize,
    /// How many are listed then.
    pub limit: usize,
    /// How many characters of each content are shown; all if absent.
    pub content_chars: Option<usize>,
}

/// Some of the units that a query finds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnitList {
    /// The units.
    pub units: Vec<MemoryUnit>,
    /// How many there are in all.
    pub total: u64,
    /// Whether there are more behind these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// What to send as `skip` for those: fewer may be listed than `limit` says, because a page ends where it has 8 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_skip: Option<u64>,
}
