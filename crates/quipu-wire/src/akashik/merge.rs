//! MERGE: settles a conflict (`POST /v1/merge`). Which unit prevails is the Field's to compute; what
//! needs no state is checked here.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Conflict, ConflictStrategy};
use crate::{
    json::reader::{ObjectReader, Problem, ReadError},
    limits::CONTENT_BYTES_MAX,
    words::words,
};

pub const MERGE_AUTHORITY: u8 = 6;
/// Ours: the authority of a ballot in a vote that is open already.
pub const BALLOT_AUTHORITY: u8 = 4;

/// How a conflict is to be settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergePayload {
    /// The conflict.
    pub conflict_id: String,
    /// By which strategy.
    pub strategy: ConflictStrategy,
    /// What the caller says to it.
    pub resolution: MergeResolution,
    /// Ours: how many ballots the vote takes that this MERGE calls; the session's rule if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<u32>,
    /// Ours: only say what would come of it; nothing is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// What the caller says to a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergeResolution {
    /// The unit that should prevail. Where the Field computes it, it must agree; for `vote` it is
    /// the ballot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner_id: Option<String>,
    /// The text of the unit that replaces both; required for `synthesis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// The reason for this resolution.
    pub rationale: String,
}

words! {
    /// What became of the conflict.
    MergeStatus {
        /// It is settled.
        Resolved = "resolved",
        /// It waits for a human.
        Escalated = "escalated",
        /// It waits for more ballots.
        PendingVote = "pending_vote",
    }
}

/// What else a MERGE did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SideEffects {
    /// The units that were replaced.
    pub superseded_units: Vec<String>,
    /// The synthesis.
    pub new_unit_id: Option<String>,
    /// The authors of the two units, where something came of it.
    pub notified_agents: Vec<String>,
}

/// Ours: how a vote stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VoteTally {
    /// Ballots for the older unit.
    pub unit_a: u32,
    /// Ballots for the newer unit.
    pub unit_b: u32,
    /// The ballots that it takes.
    pub quorum: u32,
}

/// The answer to MERGE.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergeResponse {
    /// What became of the conflict.
    pub status: MergeStatus,
    /// The conflict as it is after this.
    pub conflict: Conflict,
    /// What else it did.
    pub side_effects: SideEffects,
    /// Ours: how the vote stands, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteTally>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl MergePayload {
    /// The least authority that the payload may need, read before anything else of it is judged.
    #[must_use]
    pub fn authority_needed(payload: &Value) -> u8 {
        let strategy = payload.get("strategy").and_then(Value::as_str);
        if strategy == Some(ConflictStrategy::Vote.as_str()) {
            BALLOT_AUTHORITY
        } else {
            MERGE_AUTHORITY
        }
    }

    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let conflict_id = object.require_id("conflict_id")?;
        let strategy = object
            .take_word("strategy", ConflictStrategy::WORDS, ConflictStrategy::parse)?
            .ok_or_else(|| object.refuse("strategy", "is required"))?;
        let given = object
            .take_object("resolution")?
            .ok_or_else(|| object.refuse("resolution", "is required, with rationale"))?;
        let (resolution, mut warnings) = read_resolution(given, strategy)?;
        let mut quorum = read_quorum(&mut object)?;
        if strategy != ConflictStrategy::Vote && quorum.take().is_some() {
            warnings.push("payload.quorum was ignored: the strategy is no vote".to_owned());
        }
        let dry_run = object.take_bool("dry_run")?.unwrap_or_default();
        warnings.extend(object.warnings());
        Ok((Self { conflict_id, strategy, resolution, quorum, dry_run }, warnings))
    }
}

fn read_quorum(object: &mut ObjectReader) -> Result<Option<u32>, ReadError> {
    match object.take_integer("quorum")? {
        None => Ok(None),
        Some(0) => Err(object.refuse("quorum", Problem::found("must be at least 1", 0))),
        Some(number) => Ok(Some(u32::try_from(number).unwrap_or(u32::MAX))),
    }
}

fn read_resolution(
    mut object: ObjectReader,
    strategy: ConflictStrategy,
) -> Result<(MergeResolution, Vec<String>), ReadError> {
    let rationale = object
        .take_nonblank("rationale")?
        .ok_or_else(|| object.refuse("rationale", "is required and must not be blank"))?;
    let mut winner_id = object.take_id("winner_id")?;
    let mut synthesis =
        object.take_text("synthesis", CONTENT_BYTES_MAX)?.filter(|text| !text.trim().is_empty());
    let mut vain = Vec::new();
    match strategy {
        ConflictStrategy::Synthesis => {
            if synthesis.is_none() {
                return Err(object.refuse("synthesis", "is required when strategy is synthesis"));
            }
            if winner_id.take().is_some() {
                vain.push("payload.resolution.winner_id was ignored: a synthesis has no winner");
            }
        }
        ConflictStrategy::Vote if winner_id.is_none() => {
            return Err(object.refuse("winner_id", "is required when strategy is vote"));
        }
        ConflictStrategy::Vote
        | ConflictStrategy::LastWriteWins
        | ConflictStrategy::ConfidenceWeighted
        | ConflictStrategy::Authority
        | ConflictStrategy::EvidenceCount
        | ConflictStrategy::HumanEscalation => {
            if synthesis.take().is_some() {
                vain.push("payload.resolution.synthesis was ignored: the strategy is another");
            }
        }
    }
    let mut warnings: Vec<String> = vain.into_iter().map(str::to_owned).collect();
    warnings.extend(object.warnings());
    Ok((MergeResolution { winner_id, synthesis, rationale }, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(strategy: &str, resolution: &Value) -> String {
        let payload = json!({"conflict_id": "c", "strategy": strategy, "resolution": resolution});
        MergePayload::parse(payload).unwrap_err().to_string()
    }

    #[test]
    fn what_a_strategy_needs_is_named_by_its_path() {
        assert!(problem("coin_toss", &json!({"rationale": "r"})).starts_with("payload.strategy"));
        assert_eq!(
            problem("last_write_wins", &json!({"rationale": " "})),
            "payload.resolution.rationale: is required and must not be blank"
        );
        assert_eq!(
            problem("synthesis", &json!({"rationale": "r", "synthesis": ""})),
            "payload.resolution.synthesis: is required when strategy is synthesis"
        );
        assert_eq!(
            problem("vote", &json!({"rationale": "r"})),
            "payload.resolution.winner_id: is required when strategy is vote"
        );
        let bare = json!({"conflict_id": "c", "strategy": "vote"});
        let error = MergePayload::parse(bare).unwrap_err().to_string();
        assert!(error.starts_with("payload.resolution: is required"), "{error}");
    }

    #[test]
    fn a_quorum_is_for_votes_and_at_least_one() {
        let merge = |strategy: &str, quorum: i32| {
            let resolution = json!({"rationale": "r", "winner_id": "m"});
            let payload = json!({"conflict_id": "c", "strategy": strategy,
                                 "resolution": resolution, "quorum": quorum});
            MergePayload::parse(payload)
        };
        assert_eq!(merge("vote", 3).unwrap().0.quorum, Some(3));
        let problem = merge("vote", 0).unwrap_err().to_string();
        assert_eq!(problem, "payload.quorum: must be at least 1, got 0");
        let (vain, warnings) = merge("authority", 3).unwrap();
        assert_eq!((vain.quorum, warnings.len()), (None, 1));
    }

    #[test]
    fn what_a_strategy_has_no_use_for_is_a_warning() {
        let resolution = json!({"rationale": "r", "synthesis": "s", "winner_id": "m"});
        for (strategy, kept) in [("synthesis", (None, Some("s"))), ("authority", (Some("m"), None))]
        {
            let payload =
                json!({"conflict_id": "c", "strategy": strategy, "resolution": resolution});
            let (merge, warnings) = MergePayload::parse(payload).unwrap();
            let given = &merge.resolution;
            assert_eq!((given.winner_id.as_deref(), given.synthesis.as_deref()), kept);
            assert_eq!(warnings.len(), 1, "{warnings:?}");
        }
    }
}
