//! RECORD: the only way to add knowledge (`POST /v1/record`); and several at once, which is ours
//! (`POST /v1/records`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Confidence, Intent, MemoryType, Mode, Relation, RelationType};
use crate::{
    error::error_code::ErrorCode,
    json::reader::{ObjectReader, ReadError},
    limits::{CONTENT_BYTES_MAX, RECORD_UNITS_MAX, RELATIONS_MAX, TEXT_BYTES_MAX},
    words::words,
};

/// A memory unit as an agent submits it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordPayload {
    /// Draft or committed; committed if absent.
    #[serde(default)]
    pub mode: Mode,
    /// What kind of knowledge.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// The knowledge.
    pub content: String,
    /// Why it is recorded.
    pub intent: Intent,
    /// How sure the author is; required when committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Links to other units.
    #[serde(default)]
    pub relations: Vec<Relation>,
}

words! {
    /// Whether the unit is in.
    RecordStatus {
        /// It is, and it is on stable storage.
        Accepted = "accepted",
        /// It is not.
        Rejected = "rejected",
    }
}

words! {
    /// What became of automatic detection, where it did not finish in time.
    ConflictDetection {
        /// It goes on in the background.
        Deferred = "deferred",
    }
}

/// The answer to RECORD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordResponse {
    /// Whether the unit is in.
    pub status: RecordStatus,
    /// The id that the Field gave it.
    pub memory_unit_id: String,
    /// The epoch that the Field gave it.
    pub epoch: u64,
    /// The conflicts that it caused.
    pub conflicts_detected: Vec<String>,
    /// Present when automatic detection did not finish in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_detection: Option<ConflictDetection>,
    /// What had no effect, or is still to come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Several units that are recorded together: all of them, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordsPayload {
    /// The units, at most 256, each as RECORD takes it. They are recorded in this order.
    pub units: Vec<RecordPayload>,
}

/// The answer when several units were recorded together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordsResponse {
    /// They are in, all of them.
    pub status: RecordStatus,
    /// The epoch that the Field gave them.
    pub epoch: u64,
    /// What RECORD would answer for each, in the order of the units.
    pub units: Vec<RecordResponse>,
    /// What had no effect beside the units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RecordPayload {
    /// Knowledge that others may rely on: what it is, why it is recorded, how sure its author is and
    /// from where.
    #[must_use]
    pub fn committed(
        kind: MemoryType,
        content: impl Into<String>,
        purpose: impl Into<String>,
        score: f64,
        reasoning: impl Into<String>,
    ) -> Self {
        let confidence = Confidence {
            score: Some(score),
            reasoning: Some(reasoning.into()),
            ..Confidence::default()
        };
        let draft = Self::draft(kind, content, purpose);
        Self { mode: Mode::Committed, confidence: Some(confidence), ..draft }
    }

    /// Knowledge that is not settled yet.
    #[must_use]
    pub fn draft(kind: MemoryType, content: impl Into<String>, purpose: impl Into<String>) -> Self {
        Self {
            mode: Mode::Draft,
            kind,
            content: content.into(),
            intent: Intent { purpose: purpose.into(), task_id: None, question: None },
            confidence: None,
            relations: Vec::new(),
        }
    }

    /// The same, in a relation to another unit.
    #[must_use]
    pub fn relating(mut self, kind: RelationType, target_id: impl Into<String>) -> Self {
        self.relations.push(Relation { kind, target_id: target_id.into(), description: None });
        self
    }

    /// The authority that the payload needs, read before anything else of it is judged.
    #[must_use]
    pub fn authority_needed(payload: &Value) -> u8 {
        if payload.get("mode").and_then(Value::as_str) == Some(Mode::Draft.as_str()) {
            2
        } else {
            4
        }
    }

    /// Reads the payload, in the order in which the protocol judges it: mode, intent, type, content,
    /// confidence, relations. What was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        Self::read(ObjectReader::new("payload", payload)?)
    }

    fn read(mut object: ObjectReader) -> Result<(Self, Vec<String>), ReadError> {
        let mode = object.take_word("mode", Mode::WORDS, Mode::parse)?.unwrap_or_default();
        let (intent, mut warnings) = read_intent(&mut object)?;
        let kind = read_type(&mut object)?;
        let content = read_content(&mut object)?;
        let (confidence, more) = read_confidence(&mut object, mode)?;
        warnings.extend(more);
        let relations = read_relations(&mut object, &mut warnings)?;
        warnings.extend(object.warnings());
        Ok((Self { mode, kind, content, intent, confidence, relations }, warnings))
    }
}

impl RecordsPayload {
    /// The authority that all units together need, read before anything else of them is judged.
    #[must_use]
    pub fn authority_needed(payload: &Value) -> u8 {
        let units = payload.get("units").and_then(Value::as_array);
        let needed = units.into_iter().flatten().map(RecordPayload::authority_needed).max();
        needed.unwrap_or_else(|| RecordPayload::authority_needed(&Value::Null))
    }

    /// Reads the units in their order; the first that is wrong refuses them all. What was ignored comes
    /// back as warnings: for each unit, and for what is around them.
    pub fn parse(payload: Value) -> Result<(Self, UnitWarnings, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let entries = object.take_array("units", RECORD_UNITS_MAX)?;
        if entries.is_empty() {
            return Err(object.refuse("units", "is required and must not be empty"));
        }
        let (mut units, mut ignored) = (Vec::with_capacity(entries.len()), Vec::new());
        for (path, value) in entries {
            let (unit, warnings) = RecordPayload::read(ObjectReader::new(&path, value)?)?;
            units.push(unit);
            ignored.push(warnings);
        }
        Ok((Self { units }, ignored, object.warnings()))
    }
}

/// What was ignored of each unit.
pub type UnitWarnings = Vec<Vec<String>>;

fn read_intent(object: &mut ObjectReader) -> Result<(Intent, Vec<String>), ReadError> {
    let missing = |object: &ObjectReader| {
        object
            .refuse("intent.purpose", "is required and must not be blank")
            .with_code(ErrorCode::MissingIntent)
    };
    let Some(mut intent) = object.take_object("intent")? else { return Err(missing(object)) };
    let purpose = intent.take_nonblank("purpose")?.ok_or_else(|| missing(object))?;
    let task_id = intent.take_id("task_id")?;
    let question = intent.take_nonblank("question")?;
    Ok((Intent { purpose, task_id, question }, intent.warnings()))
}

fn read_type(object: &mut ObjectReader) -> Result<MemoryType, ReadError> {
    let of_type = |error: ReadError| error.with_code(ErrorCode::InvalidType);
    object
        .take_word("type", MemoryType::WORDS, MemoryType::parse)
        .map_err(of_type)?
        .ok_or_else(|| of_type(object.refuse("type", "is required")))
}

fn read_content(object: &mut ObjectReader) -> Result<String, ReadError> {
    object
        .take_text("content", CONTENT_BYTES_MAX)?
        .filter(|content| !content.trim().is_empty())
        .ok_or_else(|| object.refuse("content", "is required and must not be blank"))
}

fn read_confidence(
    object: &mut ObjectReader,
    mode: Mode,
) -> Result<(Option<Confidence>, Vec<String>), ReadError> {
    let given = object.take_object("confidence")?;
    let missing = |key: &str| {
        object
            .refuse(&format!("confidence.{key}"), "is required for a committed unit")
            .with_code(ErrorCode::MissingConfidence)
    };
    let Some(mut given) = given else {
        return if mode == Mode::Draft { Ok((None, Vec::new())) } else { Err(missing("score")) };
    };
    let score =
        given.take_fraction("score").map_err(|e| e.with_code(ErrorCode::InvalidConfidence))?;
    let reasoning = given.take_nonblank("reasoning")?;
    if mode == Mode::Committed && score.is_none() {
        return Err(missing("score"));
    }
    if mode == Mode::Committed && reasoning.is_none() {
        return Err(missing("reasoning"));
    }
    let evidence = given.take_texts("evidence")?;
    let assumptions = given.take_texts("assumptions")?;
    Ok((Some(Confidence { score, reasoning, evidence, assumptions }), given.warnings()))
}

fn read_relations(
    object: &mut ObjectReader,
    warnings: &mut Vec<String>,
) -> Result<Vec<Relation>, ReadError> {
    let mut relations = Vec::new();
    for (path, value) in object.take_array("relations", RELATIONS_MAX)? {
        let mut entry = ObjectReader::new(&path, value)?;
        let kind = entry
            .take_word("type", RelationType::WORDS, RelationType::parse)?
            .ok_or_else(|| entry.refuse("type", "is required"))?;
        let target_id = entry.require_id("target_id")?;
        let description = entry.take_text("description", TEXT_BYTES_MAX)?;
        warnings.extend(entry.warnings());
        relations.push(Relation { kind, target_id, description });
    }
    Ok(relations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn whole() -> Value {
        json!({"mode": "committed", "type": "finding", "content": "c", "intent": {"purpose": "p"},
               "confidence": {"score": 0.5, "reasoning": "r"}})
    }

    fn check(change: impl FnOnce(&mut Value), code: ErrorCode, path: &str) {
        let mut payload = whole();
        change(&mut payload);
        let error = RecordPayload::parse(payload).unwrap_err();
        assert_eq!((error.code, error.path.as_str()), (code, path), "{error}");
    }

    #[test]
    fn each_missing_or_wrong_part_has_its_code_and_path() {
        use ErrorCode::{
            InvalidConfidence, InvalidPayload, InvalidType, MissingConfidence, MissingIntent,
        };
        check(|p| p["intent"] = Value::Null, MissingIntent, "payload.intent.purpose");
        check(|p| p["intent"]["purpose"] = json!(" \t"), MissingIntent, "payload.intent.purpose");
        check(|p| p["intent"] = json!("why"), InvalidPayload, "payload.intent");
        check(|p| p["type"] = json!("rumour"), InvalidType, "payload.type");
        check(|p| p["type"] = json!(7), InvalidType, "payload.type");
        check(|p| p["content"] = json!(""), InvalidPayload, "payload.content");
        check(|p| p["confidence"] = Value::Null, MissingConfidence, "payload.confidence.score");
        check(
            |p| p["confidence"]["reasoning"] = json!(""),
            MissingConfidence,
            "payload.confidence.reasoning",
        );
        for score in [json!(1.01), json!(-0.01), json!("high")] {
            let change = |p: &mut Value| p["confidence"]["score"] = score;
            check(change, InvalidConfidence, "payload.confidence.score");
        }
        check(|p| p["mode"] = json!("maybe"), InvalidPayload, "payload.mode");
        check(
            |p| p["relations"] = json!([{"type": "likes", "target_id": "m"}]),
            InvalidPayload,
            "payload.relations[0].type",
        );
        let huge = "x".repeat(CONTENT_BYTES_MAX + 1);
        check(|p| p["content"] = json!(huge), InvalidPayload, "payload.content");
    }

    #[test]
    fn intent_is_judged_before_type_and_type_before_confidence() {
        check(
            |p| *p = json!({"type": "rumour", "confidence": {"score": 9}}),
            ErrorCode::MissingIntent,
            "payload.intent.purpose",
        );
        check(
            |p| {
                p["type"] = json!("rumour");
                p["confidence"]["score"] = json!(9);
            },
            ErrorCode::InvalidType,
            "payload.type",
        );
    }

    #[test]
    fn the_ends_of_the_confidence_range_are_in_it() {
        for score in [0.0, 1.0] {
            let mut payload = whole();
            payload["confidence"]["score"] = json!(score);
            let (record, _) = RecordPayload::parse(payload).unwrap();
            assert_eq!(record.confidence.unwrap().score, Some(score));
        }
    }

    #[test]
    fn a_draft_needs_no_confidence_but_a_wrong_one_is_refused() {
        let mut payload = whole();
        payload["mode"] = json!("draft");
        payload["confidence"] = Value::Null;
        assert_eq!(RecordPayload::authority_needed(&payload), 2);
        assert_eq!(RecordPayload::parse(payload).unwrap().0.confidence, None);
        check(
            |p| {
                p["mode"] = json!("draft");
                p["confidence"] = json!({"score": 2});
            },
            ErrorCode::InvalidConfidence,
            "payload.confidence.score",
        );
    }

    #[test]
    fn several_units_are_refused_for_the_first_that_is_wrong() {
        let refused = |units: Value| {
            let error = RecordsPayload::parse(json!({"units": units})).unwrap_err();
            (error.code, error.path)
        };
        let mut wrong = whole();
        wrong["confidence"]["score"] = Value::Null;
        let expected = (ErrorCode::MissingConfidence, "payload.units[1].confidence.score".into());
        assert_eq!(refused(json!([whole(), wrong, {"type": "rumour"}])), expected);
        let none = (ErrorCode::InvalidPayload, "payload.units".to_owned());
        assert_eq!(refused(json!([])), none);
        assert_eq!(refused(Value::Null), none);
        assert_eq!(refused(json!(vec![whole(); RECORD_UNITS_MAX + 1])), none);
        let (all, ..) =
            RecordsPayload::parse(json!({"units": vec![whole(); RECORD_UNITS_MAX]})).unwrap();
        assert_eq!(all.units.len(), RECORD_UNITS_MAX);
    }

    #[test]
    fn several_units_need_the_authority_of_the_one_that_needs_most() {
        let draft = json!({"mode": "draft"});
        assert_eq!(RecordsPayload::authority_needed(&json!({"units": [draft, draft]})), 2);
        assert_eq!(RecordsPayload::authority_needed(&json!({"units": [draft, whole()]})), 4);
        assert_eq!(RecordsPayload::authority_needed(&json!({})), 4);
    }

    #[test]
    fn what_is_ignored_of_several_units_is_told_for_each() {
        let mut named = whole();
        named["id"] = json!("mem-mine");
        let sent = json!({"units": [whole(), named], "atomic": false});
        let (_, units, around) = RecordsPayload::parse(sent).unwrap();
        assert_eq!(units.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(units[1], ["payload.units[1].id was ignored: the Field assigns it"]);
        assert_eq!(around.len(), 1);
    }

    #[test]
    fn what_only_the_field_may_set_is_ignored_with_a_warning() {
        let mut payload = whole();
        payload["id"] = json!("mem-mine");
        payload["epoch"] = json!(7);
        payload["source"] = json!({"agent_id": "someone"});
        payload["status"] = json!("superseded");
        let (_, warnings) = RecordPayload::parse(payload).unwrap();
        assert_eq!(warnings.len(), 4);
        assert!(warnings.iter().all(|warning| warning.ends_with("the Field assigns it")));
    }
}
