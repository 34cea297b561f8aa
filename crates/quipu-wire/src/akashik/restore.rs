//! Bringing back units that were put out of sight (`POST /v1/restore`). Ours: the protocol archives, and has no way
//! back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    RetractIntent, UnitStatus,
    compact::{NO_UNITS, read_unit_ids},
};
use crate::{
    error::error_code::ErrorCode,
    json::reader::{ObjectReader, ReadError},
    limits::RESTORE_UNITS_MAX,
    words::words,
};

words! {
    /// What had put a unit out of sight.
    RestoredFrom {
        /// Another unit had replaced it, and does so no more.
        Superseded = "superseded",
        /// It was withdrawn.
        Retracted = "retracted",
        /// COMPACT had moved it out of sight.
        Archived = "archived",
    }
}

/// Which units come back, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RestorePayload {
    /// The units.
    pub unit_ids: Vec<String>,
    /// Why they come back.
    pub intent: RetractIntent,
}

/// A unit that came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RestoredUnit {
    /// Its id.
    pub unit_id: String,
    /// What it was before. A unit that was both withdrawn and archived is named twice.
    pub was: RestoredFrom,
    /// Its status now.
    pub status: UnitStatus,
}

/// The answer to a restoration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RestoreResponse {
    /// `ok`.
    pub status: String,
    /// The units that came back.
    pub restored: Vec<RestoredUnit>,
    /// The units that they replace again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded_units: Vec<String>,
    /// The epoch of it.
    pub epoch: u64,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RestorePayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let (intent, mut warnings) = take_purpose(&mut object)?;
        let unit_ids = read_unit_ids(&mut object, RESTORE_UNITS_MAX)?;
        if unit_ids.is_empty() {
            return Err(object.refuse("unit_ids", NO_UNITS));
        }
        warnings.extend(object.warnings());
        Ok((Self { unit_ids, intent }, warnings))
    }
}

/// Takes `intent`, whose purpose is required; with what was ignored in it.
pub(super) fn take_purpose(
    object: &mut ObjectReader,
) -> Result<(RetractIntent, Vec<String>), ReadError> {
    let missing = |object: &ObjectReader| {
        object
            .refuse("intent.purpose", "is required and must not be blank")
            .with_code(ErrorCode::MissingIntent)
    };
    let Some(mut intent) = object.take_object("intent")? else { return Err(missing(object)) };
    let purpose = intent.take_nonblank("purpose")?.ok_or_else(|| missing(object))?;
    Ok((RetractIntent { purpose }, intent.warnings()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn takes_units_and_a_purpose_and_nothing_less() {
        let intent = json!({"purpose": "needed again"});
        let good = json!({"unit_ids": ["mem-1"], "intent": intent, "extra": 1});
        let (payload, warnings) = RestorePayload::parse(good).unwrap();
        assert_eq!((payload.unit_ids, warnings.len()), (vec!["mem-1".to_owned()], 1));
        for bad in [
            json!({"unit_ids": ["mem-1"]}),
            json!({"intent": intent}),
            json!({"unit_ids": [], "intent": intent}),
            json!({"unit_ids": [1], "intent": intent}),
            json!({"unit_ids": [""], "intent": intent}),
            json!({"unit_ids": vec!["mem-1"; RESTORE_UNITS_MAX + 1], "intent": intent}),
        ] {
            assert!(RestorePayload::parse(bad.clone()).is_err(), "{bad}");
        }
    }
}
