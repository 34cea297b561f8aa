//! The answer to a MERGE, from what happened. A message sent twice gets the conflict as it was after
//! the first time, whatever became of it since. What would happen is answered in the same way.

use quipu_wire::akashik::{
    Conflict, ConflictStatus, ConflictStrategy, MergePayload, MergeResponse, MergeStatus,
    Resolution, SideEffects, UnitStatus,
};

use crate::event::Event;

/// The answer. `conflict` gives what never changes of it.
#[must_use]
pub fn respond<'event>(
    epoch: u64,
    events: impl IntoIterator<Item = &'event Event>,
    (sender, payload): (&str, &MergePayload),
    mut conflict: Conflict,
) -> MergeResponse {
    let settled = |strategy: ConflictStrategy, winner_id: Option<String>| Resolution {
        strategy,
        winner_id,
        rationale: payload.resolution.rationale.clone(),
        resolved_by: sender.to_owned(),
        epoch_resolved: epoch,
    };
    let mut effects = SideEffects::default();
    let (mut status, mut vote) = (MergeStatus::PendingVote, None);
    (conflict.status, conflict.resolution) = (ConflictStatus::Resolving, None);
    for event in events {
        if let Event::ConflictBallotCast { tally, .. } = event {
            vote = Some(*tally);
        } else if let Event::ConflictResolved { strategy, winner, notified, .. } = event {
            status = MergeStatus::Resolved;
            conflict.status = ConflictStatus::Resolved;
            conflict.resolution = Some(settled(*strategy, winner.map(|winner| winner.to_string())));
            effects.notified_agents.clone_from(notified);
        } else if let Event::ConflictEscalated { strategy, notified, .. } = event {
            status = MergeStatus::Escalated;
            conflict.status = ConflictStatus::Escalated;
            conflict.resolution = Some(settled(*strategy, None));
            effects.notified_agents.clone_from(notified);
        } else if let Event::UnitRecorded { unit, .. } = event {
            effects.new_unit_id = Some(unit.to_string());
        } else if let Event::UnitStatusChanged { unit, to: UnitStatus::Superseded, .. } = event {
            effects.superseded_units.push(unit.to_string());
        }
    }
    let mut warnings = Vec::new();
    if status == MergeStatus::Escalated
        && payload.strategy == ConflictStrategy::HumanEscalation
        && payload.resolution.winner_id.is_some()
    {
        let what = "payload.resolution.winner_id was ignored: the conflict waits for a human";
        warnings.push(what.to_owned());
    }
    MergeResponse { status, conflict, side_effects: effects, vote, warnings }
}
