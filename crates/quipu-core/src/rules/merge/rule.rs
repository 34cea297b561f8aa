//! MERGE (spec 3.6, 4.1): settles a conflict, by a strategy that the Field computes, by a vote, or by
//! a human. Both steps of the conflict's machine are logged; `resolved` is final.

use std::mem;

use quipu_log::{Body, Commit, DraftEvent, Header};
use quipu_wire::{
    akashik::{
        BALLOT_AUTHORITY, ConflictStatus, ConflictStrategy, MERGE_AUTHORITY, MemoryType,
        MergePayload, Mode, RelationType,
    },
    json::canon::CanonError,
    limits::AUTHORITY_MAX,
};

use super::{
    Case, Error, Evidence, Side, Voter, begin, cast, escalate, may_favour, may_give_way,
    may_replace, may_settle, prevailing, replace, resolved, settle,
};
use crate::{
    event::{Event, Link, ResolutionBody, UnitBody},
    ids::{ConflictId, UnitId},
    message::Message,
    origin::Origin,
    rules::Decision,
    rules::{
        Refusal, admit, detect::Audience, replacing::Claim, type_authority::check_type_authority,
    },
    searchable::Searchable,
    state::{AgentEntry, State},
    visibility::{self, Sight},
};

/// A MERGE with its texts sealed and everything drawn and observed for it.
#[derive(Debug, Clone)]
pub struct MergeCommand {
    conflict: String,
    pub(crate) strategy: ConflictStrategy,
    pub(crate) winner: Option<String>,
    pub(crate) quorum: Option<u32>,
    pub(crate) evidence: Evidence,
    pub(crate) rationale: Body,
    pub(crate) ballot: Body,
    synthesis: Option<Synthesis>,
}

/// The unit that replaces both, if the strategy is `synthesis`.
#[derive(Debug, Clone)]
struct Synthesis {
    unit: UnitId,
    body: Body,
    searchable: Searchable,
}

impl MergeCommand {
    /// Prepares a MERGE: draws its id and salts and seals its texts, before the writer sees it.
    /// `evidence` is what the two units' own texts list, which the state does not know.
    pub fn prepare(
        payload: &MergePayload,
        evidence: Evidence,
        origin: &dyn Origin,
    ) -> Result<Self, CanonError> {
        let given = &payload.resolution;
        let text = ResolutionBody { rationale: given.rationale.clone() };
        let rationale = Body::new(origin.salt(), &text)?;
        let ballot = Body::new(origin.salt(), &text)?;
        let synthesis = given
            .synthesis
            .as_ref()
            .map(|content| {
                let text = UnitBody {
                    content: content.clone(),
                    purpose: format!("To settle {}: {}", payload.conflict_id, given.rationale),
                    reasoning: Some(given.rationale.clone()),
                    ..UnitBody::default()
                };
                let searchable = text.searchable();
                let body = Body::new(origin.salt(), &text)?;
                Ok(Synthesis { unit: UnitId::from_bits(origin.id_bits()), body, searchable })
            })
            .transpose()?;
        Ok(Self {
            conflict: payload.conflict_id.clone(),
            strategy: payload.strategy,
            winner: given.winner_id.clone(),
            quorum: payload.quorum,
            evidence,
            rationale,
            ballot,
            synthesis,
        })
    }

    /// Takes out what the index finds the unit by that it records, if it records one.
    pub fn take_searchable(&mut self) -> Option<Searchable> {
        self.synthesis.as_mut().map(|synthesis| mem::take(&mut synthesis.searchable))
    }
}

pub fn decide(
    state: &State,
    message: &Message,
    now_ms: u64,
    merge: &MergeCommand,
) -> Result<Decision, Refusal> {
    let is_vote = merge.strategy == ConflictStrategy::Vote;
    let least = if is_vote { BALLOT_AUTHORITY } else { MERGE_AUTHORITY };
    let caller = admit(state, &message.agent, message.authority, least)?;
    let authority = caller.authority.min(message.authority);
    let case = Case::find(state, &merge.conflict)?;
    let sight = Sight::by(state, &message.agent, message.session.as_deref(), message.authority);
    if !sight.sees_conflict(case.entry) {
        return Err(Error::NotFound { conflict: merge.conflict.clone() }.into());
    }
    visibility::may_write_within(state, message.speaker(), message.session.as_deref())?;
    for side in [&case.a, &case.b] {
        let session = side.details.session.map(|session| state.names.text(session));
        visibility::is_active(state, session)?;
    }
    check_move(&case, merge, authority)?;
    if is_vote && case.entry.status == ConflictStatus::Detected {
        // Whoever has a ballot may cast it; to call a vote is to settle.
        admit(state, &message.agent, message.authority, MERGE_AUTHORITY)?;
    }
    let claim = Claim::of(state, caller, message, now_ms);
    let mut events = Decision::new();
    match merge.strategy {
        ConflictStrategy::Synthesis => {
            synthesize(&case, merge, message, (caller, claim), &mut events)?;
        }
        ConflictStrategy::Vote => {
            let voter = Voter { name: caller.name, claim, key: message.shared_key() };
            cast(&case, merge, voter, &mut events)?;
        }
        ConflictStrategy::HumanEscalation => match case.entry.status {
            ConflictStatus::Escalated => {
                let named = merge.winner.as_deref().ok_or_else(|| case.undecided())?;
                let named = case.standing(named)?;
                may_settle(&case, claim, named, 0)?;
                settle(&case, merge, named, &mut events);
            }
            ConflictStatus::Detected | ConflictStatus::Resolving | ConflictStatus::Resolved => {
                escalate(&case, merge, &mut events);
            }
        },
        ConflictStrategy::LastWriteWins
        | ConflictStrategy::ConfidenceWeighted
        | ConflictStrategy::Authority
        | ConflictStrategy::EvidenceCount => {
            let winner = prevailing(&case, merge, authority)?;
            may_settle(&case, claim, winner, 0)?;
            may_favour(&case, claim, winner)?;
            begin(&case, merge, &mut events);
            settle(&case, merge, winner, &mut events);
        }
    }
    Ok(events)
}

/// The conflict's machine: what is resolved stays so, and what waits for a human waits for a human.
fn check_move(case: &Case<'_>, merge: &MergeCommand, authority: u8) -> Result<(), Error> {
    let conflict = case.entry.id;
    match case.entry.status {
        ConflictStatus::Detected | ConflictStatus::Resolving => Ok(()),
        ConflictStatus::Resolved => Err(Error::AlreadyResolved { conflict }),
        ConflictStatus::Escalated if authority < AUTHORITY_MAX => {
            Err(Error::NeedsHuman { conflict, authority })
        }
        ConflictStatus::Escalated if merge.strategy == ConflictStrategy::Vote => {
            Err(Error::NoVoteOnEscalated { conflict })
        }
        ConflictStatus::Escalated => Ok(()),
    }
}

/// A new unit replaces both. It is as sure as the less sure of them, and says why in the caller's words.
fn synthesize(
    case: &Case<'_>,
    merge: &MergeCommand,
    message: &Message,
    (caller, claim): (&AgentEntry, Claim<'_>),
    events: &mut Decision,
) -> Result<(), Refusal> {
    let synthesis = merge.synthesis.as_ref().ok_or(Error::NoSynthesis)?;
    let says = (MemoryType::Synthesis, Mode::Committed);
    let path = || "payload.resolution.synthesis".to_owned();
    check_type_authority(case.state, (&message.agent, claim.authority), says, path)?;
    let (session, sides) = (message.session.as_deref(), [case.a.ordinal, case.b.ordinal]);
    let there = Audience::of_new(case.state, session, MemoryType::Synthesis, sides);
    let told = |side: &Side<'_>| {
        let here = Audience::of(case.state, side.ordinal);
        here.is_some_and(|here| here.is_open_to_readers(case.state, there))
    };
    let replaced: Vec<_> = [&case.a, &case.b].into_iter().filter(|side| told(side)).collect();
    for side in &replaced {
        may_replace(claim, side, claim.authority)?;
    }
    may_give_way(claim, &replaced)?;
    begin(case, merge, events);
    let elaborates =
        |side: &Side<'_>| Link { kind: RelationType::Elaborates, target: side.id.to_string() };
    let event = Event::UnitRecorded {
        unit: synthesis.unit,
        mode: Mode::Committed,
        memory_type: MemoryType::Synthesis,
        role: caller.role.clone(),
        task: case.common_task(),
        score: Some(case.least_score()),
        session: None,
        shown: Vec::new(),
        deferred: false,
        authority: Some(claim.authority),
        key: message.key.clone(),
        spared: Vec::new(),
        relations: vec![elaborates(&case.a), elaborates(&case.b)],
    };
    events.push(DraftEvent { event, body: Some(synthesis.body.clone()) });
    resolved(case, merge, None, events);
    for side in [&case.a, &case.b] {
        replace(case, side, told(side), events);
    }
    Ok(())
}

/// Whether a MERGE says what a commit says. What was erased since cannot be compared.
pub(crate) fn is_same(merge: &MergeCommand, header: &Header<Event>, commit: &Commit) -> bool {
    let same_text = |at: u32, own: &Body| commit.body(at).is_none_or(|body| body.json == own.json);
    let same_conflict = |id: &ConflictId| id.to_string() == merge.conflict;
    let same_winner =
        |winner: &UnitId| merge.winner.as_ref().is_none_or(|w| *w == winner.to_string());
    let mut told = false;
    for (at, sealed) in (0u32..).zip(&header.events) {
        let event = &sealed.event;
        let same = if let Event::ConflictBallotCast { conflict, choice, tally, .. } = event {
            told = true;
            merge.strategy == ConflictStrategy::Vote
                && merge.quorum.is_none_or(|quorum| quorum == tally.quorum)
                && same_conflict(conflict)
                && same_winner(choice)
                && same_text(at, &merge.ballot)
        } else if let Event::ConflictResolved { conflict, strategy, winner, .. } = event {
            let by_vote = merge.strategy == ConflictStrategy::Vote;
            told = true;
            *strategy == merge.strategy
                && same_conflict(conflict)
                && (by_vote || winner.as_ref().is_none_or(same_winner))
                && same_text(at, &merge.rationale)
        } else if let Event::ConflictEscalated { conflict, strategy, .. } = event {
            told = true;
            *strategy == merge.strategy
                && same_conflict(conflict)
                && same_text(at, &merge.rationale)
        } else if let Event::ConflictResolving { quorum, .. } = event {
            *quorum == merge.quorum
        } else if let Event::UnitRecorded { .. } = event {
            merge.synthesis.as_ref().is_some_and(|own| same_text(at, &own.body))
        } else {
            // What only follows says nothing that was asked for.
            true
        };
        if !same {
            return false;
        }
    }
    told
}
