//! What can happen in a Field. An event is the immutable, chained half of what happened: ids, types,
//! status changes. Free text is in the body beside it, which can be erased, and which the state
//! therefore never depends on.

use quipu_wire::akashik::{
    AgentStatus, CompactFilter, CompactStrategy, ConflictStrategy, ConflictType, DetectedBy,
    Fidelity, LeastAuthorityRow, MemoryType, Mode, Relation, RelationType, RestoredFrom,
    SubscriptionEvent, UnitStatus, VoteTally,
};
use serde::{Deserialize, Serialize};

use crate::{
    event::{
        coordination::{HandoffChange, SessionChange, TaskChange},
        documents::{DocumentChange, DocumentKind, DocumentOwner, IdempotencyMark, Note},
    },
    ids::{ConflictId, SubscriptionId, TraceId, UnitId},
    searchable::Searchable,
};

/// Something that happened. The word of each variant is persisted: keep it stable. It is written as derived here
/// and read in `codec.rs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", remote = "Self")]
pub enum Event {
    #[serde(rename = "agent.registered")]
    AgentRegistered {
        agent: String,
        role: String,
        interests: Vec<String>,
        /// Its authority, already limited by its credential.
        authority: u8,
        /// Whether its role is only its own word, which the rules of sessions do not take. Where nothing is said, the role
        /// was granted: in older logs every role counts.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        claimed: bool,
    },
    #[serde(rename = "agent.deregistered")]
    AgentDeregistered { agent: String, units_orphaned: u64, tasks_reassigned: u64 },
    /// An agent does something else because of another event of the same commit.
    #[serde(rename = "agent.status_changed")]
    AgentStatusChanged { agent: String, to: AgentStatus, task: Option<String> },
    #[serde(rename = "session.changed")]
    SessionChanged { session: String, change: SessionChange },
    #[serde(rename = "task.changed")]
    TaskChanged { task: String, change: TaskChange },
    #[serde(rename = "handoff.changed")]
    HandoffChanged { handoff: String, change: HandoffChange },
    /// A unit was recorded. Its body is a [`UnitBody`].
    #[serde(rename = "unit.recorded")]
    UnitRecorded {
        unit: UnitId,
        mode: Mode,
        #[serde(rename = "type")]
        memory_type: MemoryType,
        role: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<f64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        relations: Vec<Link>,
        /// The session it belongs to, where that is not the commit's: a synthesis stays where its
        /// sources are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// What its author had been shown before it, where that was traced.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shown: Vec<TraceId>,
        /// Whether looking for what disagrees with it was put off, which its author was told.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        deferred: bool,
        /// The authority that its sender's key really had. Absent in logs of before.
        #[serde(default, rename = "with_authority", skip_serializing_if = "Option::is_none")]
        authority: Option<u8>,
        /// The id of its sender's key. Absent in logs of before, and where nobody was asked for a key.
        #[serde(default, rename = "with_key", skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// What it says it supersedes and may not: these units stay as they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        spared: Vec<Spared>,
    },
    /// The actor was shown units by ATTUNE, where that is traced. Its body is a [`HintBody`], if the
    /// actor gave a hint.
    #[serde(rename = "attune.traced")]
    AttuneTraced {
        trace: TraceId,
        /// The role that was ranked for.
        role: String,
        hinted: bool,
        /// The epoch that was looked at, where it was one of the past.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        as_of: Option<u64>,
        /// The units, best first.
        units: Vec<ReturnedUnit>,
    },
    /// A unit's status changed because of another event of the same commit.
    #[serde(rename = "unit.status_changed")]
    UnitStatusChanged { unit: UnitId, from: UnitStatus, to: UnitStatus },
    /// Two units were found to disagree. Its body is a [`ConflictBody`].
    #[serde(rename = "conflict.detected")]
    ConflictDetected {
        conflict: ConflictId,
        #[serde(rename = "type")]
        conflict_type: ConflictType,
        /// The older unit.
        unit_a: UnitId,
        /// The newer unit.
        unit_b: UnitId,
        detected_by: DetectedBy,
    },
    #[serde(rename = "conflict.resolving")]
    ConflictResolving {
        conflict: ConflictId,
        strategy: ConflictStrategy,
        /// The ballots that a vote takes, where who called it said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quorum: Option<u32>,
    },
    /// The actor voted on a conflict, or changed its vote. Its body is a [`ResolutionBody`].
    #[serde(rename = "conflict.ballot_cast")]
    ConflictBallotCast {
        conflict: ConflictId,
        /// The unit that should prevail.
        choice: UnitId,
        /// How the vote stands with this ballot.
        tally: VoteTally,
        /// The authority that its sender's key really had. Absent in logs of before.
        #[serde(default, rename = "with_authority", skip_serializing_if = "Option::is_none")]
        authority: Option<u8>,
        /// The id of its sender's key, where that may speak for any agent and is below authority 8: all ballots through it
        /// count once. Absent in logs of before.
        #[serde(default, rename = "with_key", skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A conflict was settled. Its body is a [`ResolutionBody`].
    #[serde(rename = "conflict.resolved")]
    ConflictResolved {
        conflict: ConflictId,
        strategy: ConflictStrategy,
        /// The unit that prevails; none for a synthesis.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        winner: Option<UnitId>,
        notified: Vec<String>,
    },
    /// A conflict waits for a human. Its body is a [`ResolutionBody`].
    #[serde(rename = "conflict.escalated")]
    ConflictEscalated {
        conflict: ConflictId,
        /// The strategy that asked for it or failed.
        strategy: ConflictStrategy,
        notified: Vec<String>,
    },
    /// A unit was withdrawn. Its body is a [`RetractionBody`].
    #[serde(rename = "unit.retracted")]
    UnitRetracted {
        unit: UnitId,
        from: UnitStatus,
        /// Whether somebody withdrew it who is not its author.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        overruled: bool,
    },
    /// A unit is back that was out of sight. Its body is a [`RetractionBody`] where somebody asked for it; where it
    /// follows from a retraction there is none.
    #[serde(rename = "unit.restored")]
    UnitRestored {
        unit: UnitId,
        /// What had put it out of sight.
        from: RestoredFrom,
        to: UnitStatus,
    },
    /// The operator said which authority units of some types take. Its body is a [`RetractionBody`].
    #[serde(rename = "authority.least_set")]
    LeastAuthoritySet {
        /// What changed.
        rows: Vec<LeastAuthorityRow>,
    },
    /// COMPACT moved units out of sight.
    #[serde(rename = "units.archived")]
    UnitsArchived {
        /// Archived alone, or after they were summarized.
        strategy: CompactStrategy,
        filter: CompactFilter,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        units: Vec<UnitId>,
        /// How much of them survives in their summaries, as it was measured. Absent in logs of before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fidelity: Option<Fidelity>,
    },
    /// COMPACT deleted units: their tombstone. Who and when is in the commit. Their texts are erased
    /// as soon as this is durable.
    #[serde(rename = "units.purged")]
    UnitsPurged {
        filter: CompactFilter,
        reason: String,
        units: Vec<UnitId>,
        /// The traced ATTUNEs whose hints go too.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hints: Vec<TraceId>,
    },
    #[serde(rename = "subscription.created")]
    SubscriptionCreated {
        subscription: SubscriptionId,
        events: Vec<SubscriptionEvent>,
        /// Nothing that scores lower.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_relevance: Option<f64>,
        /// The least time between two pushes about the same thing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        debounce_ms: Option<u64>,
    },
    /// The actor no longer wants to be told.
    #[serde(rename = "subscription.removed")]
    SubscriptionRemoved {
        subscription: SubscriptionId,
        /// The commit that made it. Absent in logs of the first version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        created: Option<u64>,
    },
    /// A document of the Harn protocol was made or changed. Its body is the document.
    #[serde(rename = "document.changed")]
    DocumentChanged {
        document: DocumentKind,
        /// Its id, unique among its kind.
        id: String,
        #[serde(default)]
        owner: DocumentOwner,
        change: DocumentChange,
        /// The units whose words its body repeats: it goes when one of them is purged.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        quotes: Vec<UnitId>,
    },
    /// Something happened to a task without moving it. Its body is what is to be told of it.
    #[serde(rename = "task.noted")]
    TaskNoted { task: String, note: Note },
    /// The commit is the answer to an idempotency key.
    #[serde(rename = "idempotency.kept")]
    IdempotencyKept {
        /// The key, by digests.
        mark: IdempotencyMark,
    },
    /// The clock moved without anything else happening.
    #[serde(rename = "clock.advanced")]
    ClockAdvanced { reason: ClockReason },
}

/// Why the clock was advanced by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockReason {
    /// Reads ran ahead of the log, or brought a later epoch.
    Reads,
    /// The Field was closed in order: nobody was ever given a later epoch.
    Closed,
}

/// A unit that ATTUNE returned, with the score that it returned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReturnedUnit {
    pub unit: UnitId,
    pub score: f64,
}

/// A unit that stays as it is although another one says that it supersedes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spared {
    pub unit: UnitId,
    /// The authority that it takes to replace it.
    pub needs: u8,
}

/// A relation without its free text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    #[serde(rename = "type")]
    pub kind: RelationType,
    /// The unit it points at, which need not be known here.
    pub target: String,
}

/// The free text of a recorded unit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnitBody {
    pub content: String,
    pub purpose: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Why this confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// The relations' descriptions, in their order; empty if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub descriptions: Vec<Option<String>>,
}

impl UnitBody {
    /// The text by which the unit can be found.
    #[must_use]
    pub fn searchable(&self) -> Searchable {
        let mut around = self.purpose.clone();
        around.extend(self.question.iter().flat_map(|question| ["\n", question]));
        Searchable { content: self.content.clone(), around }
    }

    /// The descriptions of relations, or nothing where no relation has one.
    #[must_use]
    pub fn descriptions_of(relations: &[Relation]) -> Vec<Option<String>> {
        if relations.iter().all(|relation| relation.description.is_none()) {
            return Vec::new();
        }
        relations.iter().map(|relation| relation.description.clone()).collect()
    }
}

/// The free text of a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictBody {
    pub description: String,
}

/// The free text of a resolution, an escalation or a ballot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolutionBody {
    pub rationale: String,
}

/// The free text of a traced ATTUNE.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HintBody {
    /// What the agent said it was about to do.
    pub hint: String,
}

/// The free text of a retraction, of a restoration and of a change of the table of authorities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetractionBody {
    pub purpose: String,
}
