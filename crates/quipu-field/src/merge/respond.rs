//! The answer to a MERGE, from what happened. A message sent twice gets the conflict as it was after
//! the first time, whatever became of it since.

use quipu_log::SealedEvent;
use quipu_wire::akashik::{
    Conflict, ConflictStatus, ConflictStrategy, MergePayload, MergeResponse, MergeStatus,
    Resolution, SideEffects, UnitStatus,
};

use crate::event::Event;

/// The answer. `conflict` gives what never changes of it.
#[must_use]
pub fn respond(
    epoch: u64,
    events: &[SealedEvent<Event>],
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
    for sealed in events {
        match &sealed.event {
            Event::ConflictBallotCast { tally, .. } => vote = Some(*tally),
            Event::ConflictResolved { strategy, winner, notified, .. } => {
                status = MergeStatus::Resolved;
                conflict.status = ConflictStatus::Resolved;
                conflict.resolution =
                    Some(settled(*strategy, winner.map(|winner| winner.to_string())));
                effects.notified_agents.clone_from(notified);
            }
            Event::ConflictEscalated { strategy, notified, .. } => {
                status = MergeStatus::Escalated;
                conflict.status = ConflictStatus::Escalated;
                conflict.resolution = Some(settled(*strategy, None));
                effects.notified_agents.clone_from(notified);
            }
            Event::UnitRecorded { unit, .. } => effects.new_unit_id = Some(unit.to_string()),
            Event::UnitStatusChanged { unit, to: UnitStatus::Superseded, .. } => {
                effects.superseded_units.push(unit.to_string());
            }
            Event::UnitStatusChanged { .. }
            | Event::ConflictResolving { .. }
            | Event::AgentRegistered { .. }
            | Event::AgentDeregistered { .. }
            | Event::ConflictDetected { .. }
            | Event::UnitRetracted { .. }
            | Event::SubscriptionCreated { .. }
            | Event::SubscriptionRemoved { .. }
            | Event::UnitsArchived { .. }
            | Event::UnitsPurged { .. }
            | Event::AgentStatusChanged { .. }
            | Event::SessionChanged { .. }
            | Event::TaskChanged { .. }
            | Event::HandoffChanged { .. }
            | Event::ClockAdvanced { .. } => {}
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
