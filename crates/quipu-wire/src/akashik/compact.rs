//! COMPACT: archives, summarizes or purges units that are no longer needed at hand (`POST /v1/compact`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Fidelity, MemoryType, UnitStatus};
use crate::{
    json::{
        age::Age,
        reader::{ObjectReader, ReadError},
    },
    limits::{COMPACT_REASON_BYTES_MAX, COMPACT_UNITS_MAX, ID_BYTES_MAX, LIST_ENTRIES_MAX},
    words::words,
};

words! {
    /// What happens to the units that pass the filter.
    CompactStrategy {
        /// Units that say in brief what they say take their place, and they are archived.
        Summarize = "summarize",
        /// They are left out of ATTUNE unless asked for.
        Archive = "archive",
        /// Their text is erased for good; a tombstone stays.
        Purge = "purge",
    }
}

impl CompactStrategy {
    #[must_use]
    pub const fn authority_needed(self) -> u8 {
        match self {
            Self::Summarize | Self::Archive => 6,
            Self::Purge => 10,
        }
    }
}

/// Which units. Parts are combined with AND, an absent or empty part holds for all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompactFilter {
    /// Recorded more than this many epochs ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age_epochs: Option<u64>,
    /// Recorded in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Of any of these types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<MemoryType>,
    /// In any of these states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<UnitStatus>,
    /// Recorded before this time, in RFC 3339, or longer ago than this duration, such as `P30D` (Quipu's extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than: Option<String>,
    /// Recorded by this agent (Quipu's extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Recorded through the key of this id (Quipu's extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Of these ids (Quipu's extension).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unit_ids: Vec<String>,
}

impl CompactFilter {
    /// Before when a unit must be recorded, in milliseconds since 1970, if it is that now.
    #[must_use]
    pub fn before_ms(&self, now_ms: u64) -> Option<u64> {
        self.older_than.as_deref().and_then(Age::parse).map(|age| age.before_ms(now_ms))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What to compact, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompactPayload {
    /// What is done with the units.
    pub strategy: CompactStrategy,
    /// Which units. A purge needs at least one part of it.
    #[serde(default)]
    pub filter: CompactFilter,
    /// Why (Quipu's extension). It stays in the log for ever, so it should name nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Only says what would be done (Quipu's extension).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// How many units the caller expects it to take (Quipu's extension). If it would take more or fewer, nothing happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<u64>,
    /// For a summarize: how much must survive, from 0 to 1 (Quipu's extension). If less would, nothing happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_fidelity: Option<f64>,
}

/// A unit that a COMPACT would record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForeseenSynthesis {
    /// What it would say.
    pub content: String,
    /// The units that it would stand for.
    pub elaborates: Vec<String>,
}

/// The answer to COMPACT.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompactResponse {
    /// `ok`.
    pub status: String,
    /// How many units were archived or purged.
    pub units_affected: u64,
    /// How many units say now in brief what they said.
    pub synthesis_units_created: u64,
    /// The bytes of text that a purge erased; null for the other strategies.
    pub storage_reclaimed_bytes: Option<u64>,
    /// Where it was only tried: the first 1,000 of the units that it would take (Quipu's extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Vec<String>>,
    /// Where a summarize was only tried: the units that it would record (Quipu's extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syntheses: Option<Vec<ForeseenSynthesis>>,
    /// Of a summarize that wrote something: how much survives (Quipu's extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// What had no effect, and what a purge leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl CompactPayload {
    /// The authority that the payload needs, read before anything else of it is judged.
    #[must_use]
    pub fn authority_needed(payload: &Value) -> u8 {
        let strategy = payload.get("strategy").and_then(Value::as_str);
        strategy
            .and_then(CompactStrategy::parse)
            .unwrap_or(CompactStrategy::Archive)
            .authority_needed()
    }

    /// Reads the payload. A part that is not known is refused, never ignored: what was meant to narrow the
    /// selection would otherwise widen it to everything. So there are no warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let strategy = object
            .take_word("strategy", CompactStrategy::WORDS, CompactStrategy::parse)?
            .ok_or_else(|| object.refuse("strategy", "is required"))?;
        let filter = match object.take_object("filter")? {
            None => CompactFilter::default(),
            Some(filter) => read_filter(filter)?,
        };
        if strategy == CompactStrategy::Purge && filter.is_empty() {
            return Err(object.refuse("filter", "must not be empty for a purge"));
        }
        let reason = object
            .take_text("reason", COMPACT_REASON_BYTES_MAX)?
            .filter(|reason| !reason.trim().is_empty());
        let dry_run = object.take_bool("dry_run")?.unwrap_or(false);
        let confirm = object.take_integer("confirm")?;
        let minimum_fidelity = object.take_fraction("minimum_fidelity")?;
        if minimum_fidelity.is_some() && strategy != CompactStrategy::Summarize {
            return Err(object.refuse("minimum_fidelity", "is for a summarize"));
        }
        object.refuse_leftovers()?;
        Ok((Self { strategy, filter, reason, dry_run, confirm, minimum_fidelity }, Vec::new()))
    }
}

fn read_filter(mut object: ObjectReader) -> Result<CompactFilter, ReadError> {
    let filter = CompactFilter {
        max_age_epochs: object.take_integer("max_age_epochs")?,
        session_id: object.take_id("session_id")?,
        types: object.take_words(
            "types",
            LIST_ENTRIES_MAX,
            MemoryType::WORDS,
            MemoryType::parse,
        )?,
        status: object.take_words(
            "status",
            LIST_ENTRIES_MAX,
            UnitStatus::WORDS,
            UnitStatus::parse,
        )?,
        older_than: read_age(&mut object)?,
        agent: object.take_id("agent")?,
        key: object.take_id("key")?,
        unit_ids: read_unit_ids(&mut object, COMPACT_UNITS_MAX)?,
    };
    object.refuse_leftovers()?;
    Ok(filter)
}

fn read_age(object: &mut ObjectReader) -> Result<Option<String>, ReadError> {
    let Some(text) = object.take_text("older_than", ID_BYTES_MAX)? else { return Ok(None) };
    if Age::parse(&text).is_some() {
        return Ok(Some(text));
    }
    let problem = "must be a time such as 2026-03-01T10:30:00Z or a duration such as P30D or PT12H";
    Err(object.refuse("older_than", problem))
}

/// An empty list is refused: whoever worked it out found nothing, and must not be given everything.
/// What is said of a list without a unit in it.
pub(super) const NO_UNITS: &str = "must name at least one unit";

/// The units that a payload names; a list that is there names at least one.
pub(super) fn read_unit_ids(
    object: &mut ObjectReader,
    most: usize,
) -> Result<Vec<String>, ReadError> {
    let is_there = object.has("unit_ids");
    let ids = take_unit_ids(object, "unit_ids", most)?;
    if is_there && ids.is_empty() {
        return Err(object.refuse("unit_ids", NO_UNITS));
    }
    Ok(ids)
}

/// The ids of units in a list, which may be empty or absent.
pub(super) fn take_unit_ids(
    object: &mut ObjectReader,
    key: &str,
    most: usize,
) -> Result<Vec<String>, ReadError> {
    let ids = object.take_array(key, most)?.into_iter().map(|(path, value)| {
        let id = value.as_str().filter(|id| !id.is_empty() && id.len() <= ID_BYTES_MAX);
        id.map(str::to_owned).ok_or_else(|| ReadError::new(path, "must be the id of a unit"))
    });
    ids.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refusal(payload: Value) -> String {
        CompactPayload::parse(payload).unwrap_err().path
    }

    #[test]
    fn a_wrong_part_is_named() {
        assert_eq!(refusal(json!({})), "payload.strategy");
        assert_eq!(refusal(json!({"strategy": "shred"})), "payload.strategy");
        let filter = |filter: Value| json!({"strategy": "archive", "filter": filter});
        assert_eq!(refusal(filter(json!([]))), "payload.filter");
        let age = filter(json!({"max_age_epochs": -1}));
        assert_eq!(refusal(age), "payload.filter.max_age_epochs");
        let types = filter(json!({"types": ["finding", "rumour"]}));
        assert_eq!(refusal(types), "payload.filter.types[1]");
        let status = filter(json!({"status": ["archived"]}));
        assert_eq!(refusal(status), "payload.filter.status[0]");
        let fidelity =
            |strategy: &str, least: f64| json!({"strategy": strategy, "minimum_fidelity": least});
        assert_eq!(refusal(fidelity("summarize", 1.5)), "payload.minimum_fidelity");
        assert_eq!(refusal(fidelity("archive", 0.5)), "payload.minimum_fidelity");
        let long =
            json!({"strategy": "archive", "reason": "x".repeat(COMPACT_REASON_BYTES_MAX + 1)});
        assert_eq!(refusal(long), "payload.reason");
    }

    #[test]
    fn a_purge_of_everything_is_refused_however_it_is_written() {
        for filter in [json!(null), json!({}), json!({"types": [], "session_id": null})] {
            let payload = json!({"strategy": "purge", "filter": filter});
            assert_eq!(refusal(payload), "payload.filter");
        }
        let all = json!({"strategy": "archive"});
        assert!(CompactPayload::parse(all).unwrap().0.filter.is_empty());
    }

    #[test]
    fn a_part_that_is_not_known_is_refused_by_every_strategy() {
        for strategy in ["archive", "summarize", "purge"] {
            let misspelled = json!({"types": ["finding"], "sesion_id": "s"});
            let payload = json!({"strategy": strategy, "filter": misspelled});
            assert_eq!(refusal(payload), "payload.filter.sesion_id");
            let known = json!({"types": ["finding"]});
            let payload = json!({"strategy": strategy, "filter": known, "dryrun": true});
            assert_eq!(refusal(payload), "payload.dryrun");
            let key = json!({"types": ["finding"], "key": ["k1"]});
            assert_eq!(refusal(json!({"strategy": strategy, "filter": key})), "payload.filter.key");
        }
    }

    #[test]
    fn an_age_is_a_time_or_a_duration_and_a_list_of_units_names_some() {
        let filter = |filter: Value| json!({"strategy": "archive", "filter": filter});
        for wrong in ["yesterday", "30", "P1M", "P", "PT", "-P1D", ""] {
            assert_eq!(refusal(filter(json!({"older_than": wrong}))), "payload.filter.older_than");
        }
        assert_eq!(refusal(filter(json!({"unit_ids": []}))), "payload.filter.unit_ids");
        assert_eq!(refusal(filter(json!({"unit_ids": [3]}))), "payload.filter.unit_ids[0]");
        let (read, _) = CompactPayload::parse(filter(
            json!({"older_than": "P1D", "agent": "ann", "unit_ids": ["mem-1"]}),
        ))
        .unwrap();
        assert_eq!(read.filter.before_ms(86_400_005), Some(5));
    }

    #[test]
    fn a_purge_needs_more_authority_than_the_rest() {
        let needed =
            |strategy: &str| CompactPayload::authority_needed(&json!({"strategy": strategy}));
        assert_eq!((needed("archive"), needed("summarize"), needed("purge")), (6, 6, 10));
    }
}
