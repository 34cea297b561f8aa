//! DETECT: lists conflicts, and looks for new ones (`POST /v1/detect`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Conflict, ConflictStatus, ConflictType};
use crate::{
    json::reader::{ObjectReader, ReadError},
    limits::LIST_ENTRIES_MAX,
    words::words,
};

words! {
    /// What to do.
    DetectMode {
        /// Compare one unit with the others.
        Check = "check",
        /// Compare all units.
        Scan = "scan",
        /// List what is known.
        List = "list",
    }
}

/// Which conflicts to list. Parts are combined with AND, an empty part holds for all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DetectFilter {
    /// Any of these.
    #[serde(default)]
    pub status: Vec<ConflictStatus>,
    /// Any of these conflict types.
    #[serde(default)]
    pub types: Vec<ConflictType>,
    /// One of the two units was recorded by any of these.
    #[serde(default)]
    pub involving_agents: Vec<String>,
}

/// What to detect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DetectPayload {
    /// What to do.
    pub mode: DetectMode,
    /// The unit to check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    /// Which conflicts to list.
    #[serde(default)]
    pub filter: DetectFilter,
    /// Where a scan or a list goes on: the `next_cursor` of the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScanCoverage {
    /// The units that were compared.
    pub units_scanned: u64,
    /// The conflicts that were not known before.
    pub new_conflicts_found: u64,
}

/// The answer to DETECT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DetectResponse {
    /// `ok`.
    pub status: String,
    /// The conflicts, oldest first.
    pub conflicts: Vec<Conflict>,
    /// How much was looked at.
    pub scan_coverage: ScanCoverage,
    /// Where a scan that came to the end of its budget goes on, or a list that came to the end of its page; absent where there
    /// is no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl DetectPayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let mode = object
            .take_word("mode", DetectMode::WORDS, DetectMode::parse)?
            .ok_or_else(|| object.refuse("mode", "is required"))?;
        let target_id = object.take_id("target_id")?;
        if mode == DetectMode::Check && target_id.is_none() {
            return Err(object.refuse("target_id", "is required when mode is check"));
        }
        let cursor = object.take_id("cursor")?;
        if mode == DetectMode::Check && cursor.is_some() {
            return Err(object.refuse("cursor", "is only for modes scan and list"));
        }
        let (filter, mut warnings) = match object.take_object("filter")? {
            None => (DetectFilter::default(), Vec::new()),
            Some(filter) => read_filter(filter)?,
        };
        warnings.extend(object.warnings());
        Ok((Self { mode, target_id, filter, cursor }, warnings))
    }
}

fn read_filter(mut object: ObjectReader) -> Result<(DetectFilter, Vec<String>), ReadError> {
    let filter = DetectFilter {
        status: object.take_words(
            "status",
            LIST_ENTRIES_MAX,
            ConflictStatus::WORDS,
            ConflictStatus::parse,
        )?,
        types: object.take_words(
            "types",
            LIST_ENTRIES_MAX,
            ConflictType::WORDS,
            ConflictType::parse,
        )?,
        involving_agents: object.take_texts("involving_agents")?,
    };
    Ok((filter, object.warnings()))
}
