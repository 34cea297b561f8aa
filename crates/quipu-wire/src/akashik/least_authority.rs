//! Which authority it takes to record a unit of a type (`/v1/field/authority`). Ours: the protocol says that a Field
//! may bar types from lower authorities, and not how.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MemoryType, Mode, RetractIntent, restore::take_purpose};
use crate::{
    json::reader::{ObjectReader, ReadError},
    limits::{AUTHORITY_MAX, LEAST_AUTHORITY_ROWS_MAX},
};

/// The authority that units of one type and mode take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeastAuthorityRow {
    /// The type.
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    /// Draft or committed.
    pub mode: Mode,
    /// The authority that it takes at least.
    pub authority: u8,
}

/// A change of the authority that units of one type take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeastAuthorityChange {
    /// The type.
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    /// Draft or committed; both if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The authority that it takes at least.
    pub authority: u8,
}

/// A change of the table, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeastAuthorityPayload {
    /// What changes. What is not named stays as it is.
    pub least: Vec<LeastAuthorityChange>,
    /// Why it changes.
    pub intent: RetractIntent,
}

/// The whole table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeastAuthorityTable {
    /// A row for each type and mode.
    pub least: Vec<LeastAuthorityRow>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl LeastAuthorityPayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let (intent, mut warnings) = take_purpose(&mut object)?;
        let listed = object.take_array("least", LEAST_AUTHORITY_ROWS_MAX)?;
        if listed.is_empty() {
            return Err(object.refuse("least", "must name at least one type"));
        }
        let mut least = Vec::with_capacity(listed.len());
        for (path, row) in listed {
            let mut row = ObjectReader::new(&path, row)?;
            least.push(read_row(&mut row)?);
            warnings.extend(row.warnings());
        }
        warnings.extend(object.warnings());
        Ok((Self { least, intent }, warnings))
    }
}

fn read_row(row: &mut ObjectReader) -> Result<LeastAuthorityChange, ReadError> {
    let memory_type = row.take_word("type", MemoryType::WORDS, MemoryType::parse)?;
    let mode = row.take_word("mode", Mode::WORDS, Mode::parse)?;
    let authority = row.take_integer("authority")?;
    let authority = authority.and_then(|authority| u8::try_from(authority).ok());
    let authority = authority.filter(|authority| *authority <= AUTHORITY_MAX);
    Ok(LeastAuthorityChange {
        memory_type: memory_type.ok_or_else(|| row.refuse("type", "is required"))?,
        mode,
        authority: authority
            .ok_or_else(|| row.refuse("authority", "must be an integer from 0 to 10"))?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn takes_rows_and_a_purpose_and_nothing_less() {
        let intent = json!({"purpose": "as we agreed"});
        let row = json!({"type": "constraint", "authority": 6});
        let good = json!({"least": [row], "intent": intent});
        let (payload, _) = LeastAuthorityPayload::parse(good).unwrap();
        assert_eq!((payload.least[0].mode, payload.least[0].authority), (None, 6));
        for bad in [
            json!({"least": [row]}),
            json!({"intent": intent}),
            json!({"least": [{"type": "constraint"}], "intent": intent}),
            json!({"least": [{"authority": 6}], "intent": intent}),
            json!({"least": [{"type": "constraint", "authority": 11}], "intent": intent}),
            json!({"least": [{"type": "rumour", "authority": 6}], "intent": intent}),
        ] {
            assert!(LeastAuthorityPayload::parse(bad.clone()).is_err(), "{bad}");
        }
    }
}
