//! REPLAY: tells how something came about, from the log alone (`POST /v1/replay`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Relation, compact::take_unit_ids};
use crate::{
    json::reader::{ObjectReader, ReadError},
    limits::REPLAY_WITHOUT_MAX,
    words::words,
};

words! {
    /// What is to be replayed.
    ReplayTarget {
        /// Everything done for a task.
        Task = "task",
        /// A unit.
        MemoryUnit = "memory_unit",
        /// A unit of type decision.
        Decision = "decision",
        /// A conflict.
        Conflict = "conflict",
        /// Everything done in a session.
        Session = "session",
    }
}

words! {
    /// How much is told.
    ReplayDepth {
        /// The story and who took part; no timeline.
        Summary = "summary",
        /// The key events.
        Detailed = "detailed",
        /// Every event.
        FullTrace = "full_trace",
    }
}

/// What to replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayPayload {
    /// What kind of thing.
    pub target_type: ReplayTarget,
    /// Which one.
    pub target_id: String,
    /// How much is told; `detailed` if absent (Quipu's extension).
    pub depth: ReplayDepth,
    /// Ours: say by id what each event is about and what it rests on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Ours: units that are thought away: what would the author of this unit have been given without them?
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

/// Ours: what would have been, had some units not been there. No model is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayWithout {
    /// The units that were thought away.
    pub units: Vec<String>,
    /// Those of which nothing is known, or nothing to the caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// What the author had been given before, and would have been; where nothing was traced, what fits its purpose.
    pub attunes: Vec<ReplayAttune>,
    /// What it rests on directly and is thought away.
    pub causes_lost: Vec<Relation>,
    /// What it rests on directly besides.
    pub causes_left: Vec<Relation>,
    /// Those of what is left that themselves depend on what is thought away, or were caused by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes_shaken: Vec<String>,
    /// The same in words.
    pub summary: String,
    /// What the log cannot tell.
    pub cannot_know: Vec<String>,
}

/// Ours: one ATTUNE before a unit, as it was and as it would have been.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayAttune {
    /// The trace of it; null where none was made and this is what fits the author's purpose.
    pub trace_id: Option<String>,
    /// The epoch that it looked at.
    pub epoch: u64,
    /// What it was for; null where nothing was said or that was purged.
    pub context_hint: Option<String>,
    /// What was given, best first.
    pub shown: Vec<ShownUnit>,
    /// What would have been given.
    pub would_be: Vec<ShownUnit>,
    /// Whether it gives the same as then, asked again with all units.
    pub again_the_same: bool,
}

/// Ours: what an event of a timeline is linked with, by id. What the caller may not see is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayLinks {
    /// What it made or changed: units, conflicts, tasks, traces; 256 at most.
    pub about: Vec<String>,
    /// What it rests on, likewise.
    pub rests_on: Vec<String>,
    /// Of an ATTUNE, the units that were shown, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<ShownUnit>,
}

/// A unit that an ATTUNE returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShownUnit {
    /// The unit.
    pub memory_unit_id: String,
    /// Its score in that answer.
    pub relevance_score: f64,
}

/// Ours: everything that whoever did something gave as a reason for it, in its own words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayReasons {
    /// What it was to achieve: of a unit, a task or a retraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The question that it was to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// How sure its author was, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why so sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What that rests on outside of the Field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What was taken for granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// The units of the story that it refers to, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<Relation>,
    /// Why a conflict was settled or escalated so, or somebody voted so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// Why a task moved or was handed over, or units were compacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What disagrees in a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What an ATTUNE was for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// How things stood at a handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What nobody had answered at a handoff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    /// What had been decided at a handoff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// What was to be done after a handoff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
    /// Whether there were reasons that have been purged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// Something that happened on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayEvent {
    /// When, by the Field's clock.
    pub epoch: u64,
    /// What it was, such as `RECORD`, `CONFLICT_CREATED`, `MERGE`.
    pub event_type: String,
    /// Who did it; `system` for what the Field did by itself.
    pub agent_id: String,
    /// What happened, in words.
    pub description: String,
    /// The unit that it is about.
    pub memory_unit_id: Option<String>,
    /// The task that it served.
    pub task_id: Option<String>,
    /// When, by the wall clock (Quipu's extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Ours: the sentence that says why, in the words of whoever did it; `(erased)` where they were purged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Ours: all that was given as a reason, at depth `full_trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasons: Option<ReplayReasons>,
    /// Ours: what it is linked with, when the payload asks to `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<ReplayLinks>,
}

/// The answer to REPLAY.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayResponse {
    /// `ok`.
    pub status: String,
    /// What happened, in the order of epochs; empty at depth `summary`.
    pub timeline: Vec<ReplayEvent>,
    /// The story in a few sentences.
    pub summary: String,
    /// Who took part, in the order of first appearance.
    pub agents_involved: Vec<String>,
    /// How many events the whole chain has, whatever the depth.
    pub total_events: u64,
    /// Ours: what would have been without the units that the payload names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<ReplayWithout>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl ReplayPayload {
    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let target_type = object
            .take_word("target_type", ReplayTarget::WORDS, ReplayTarget::parse)?
            .ok_or_else(|| object.refuse("target_type", "is required"))?;
        let target_id = object.require_id("target_id")?;
        let depth = object
            .take_word("depth", ReplayDepth::WORDS, ReplayDepth::parse)?
            .unwrap_or(ReplayDepth::Detailed);
        let explain = object.take_bool("explain")?.unwrap_or_default();
        let without = without(&mut object, target_type, &target_id)?;
        Ok((Self { target_type, target_id, depth, explain, without }, object.warnings()))
    }
}

/// The units that are thought away, each once.
fn without(
    object: &mut ObjectReader,
    target_type: ReplayTarget,
    target_id: &str,
) -> Result<Vec<String>, ReadError> {
    let mut units = take_unit_ids(object, "without", REPLAY_WITHOUT_MAX)?;
    units.sort();
    units.dedup();
    let is_unit = matches!(target_type, ReplayTarget::Decision | ReplayTarget::MemoryUnit);
    if !units.is_empty() && !is_unit {
        return Err(object.refuse("without", "is only for a decision or a memory_unit"));
    }
    if units.iter().any(|unit| unit == target_id) {
        return Err(object.refuse("without", "names the target itself"));
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_replay_needs_a_target_and_tells_the_key_events_by_default() {
        let error = |payload| ReplayPayload::parse(payload).unwrap_err().path;
        assert_eq!(error(json!({})), "payload.target_type");
        assert_eq!(error(json!({"target_type": "agent"})), "payload.target_type");
        assert_eq!(error(json!({"target_type": "task"})), "payload.target_id");
        let deep = json!({"target_type": "task", "target_id": "t", "depth": "deep"});
        assert_eq!(error(deep), "payload.depth");
        let (payload, _) =
            ReplayPayload::parse(json!({"target_type": "decision", "target_id": "d"})).unwrap();
        assert_eq!(payload.depth, ReplayDepth::Detailed);
        assert!(!payload.explain && payload.without.is_empty());
    }

    #[test]
    fn only_other_units_are_thought_away_and_from_units_alone() {
        let parse = |kind: &str, without: Value| {
            let payload = json!({"target_type": kind, "target_id": "d", "without": without});
            ReplayPayload::parse(payload).map(|(payload, _)| payload.without)
        };
        assert_eq!(parse("decision", json!(["b", "a", "b"])).unwrap(), ["a", "b"]);
        let many: Vec<String> = (0..65).map(|number| number.to_string()).collect();
        for (kind, without) in [
            ("task", json!(["a"])),
            ("decision", json!(["a", "d"])),
            ("decision", json!(many)),
            ("decision", json!([1])),
        ] {
            assert!(
                parse(kind, without).unwrap_err().path.starts_with("payload.without"),
                "{kind}"
            );
        }
    }
}
