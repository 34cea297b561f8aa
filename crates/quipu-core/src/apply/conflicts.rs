//! Applies that units disagree, and what MERGE did about it. The units' own changes are events of their own.

use std::collections::BTreeMap;

use quipu_log::Header;
use quipu_wire::akashik::{ConflictStatus, ConflictStrategy};

use crate::{
    apply::find,
    event::Event,
    ids::ConflictId,
    state::{ConflictEntry, ResolutionEntry, State},
};

/// Applies that two units were found to disagree.
pub(crate) fn detected(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    event: &Event,
) -> Result<(), String> {
    let Event::ConflictDetected { conflict, conflict_type, unit_a, unit_b, detected_by } = event
    else {
        return Err("not a detected conflict".to_owned());
    };
    let (unit_a, unit_b) = (find(state, *unit_a)?, find(state, *unit_b)?);
    state.conflicts.push(ConflictEntry {
        id: *conflict,
        conflict_type: *conflict_type,
        status: ConflictStatus::Detected,
        unit_a,
        unit_b,
        detected_by: *detected_by,
        position: header.position,
        event: index,
        resolution: None,
        ballots: BTreeMap::new(),
        quorum: None,
    });
    Ok(())
}

/// Applies an event about a conflict that is being settled.
pub(crate) fn settle(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    event: &Event,
) -> Result<(), String> {
    if let Event::ConflictResolving { conflict, quorum, .. } = event {
        require_conflict(state, *conflict)?;
        state.conflicts.change(*conflict, |entry| {
            entry.status = ConflictStatus::Resolving;
            entry.quorum = *quorum;
        });
    } else if let Event::ConflictBallotCast { conflict, choice, authority, key, .. } = event {
        require_conflict(state, *conflict)?;
        let choice = find(state, *choice)?;
        let voter = state.names.intern(&header.actor);
        state.conflicts.change(*conflict, |entry| {
            entry.ballots.insert(voter, choice);
        });
        if let Some(authority) = authority {
            state.backing.cast(*conflict, voter, *authority);
        }
        let key = key.as_deref().map(|key| state.names.intern(key));
        state.ballot_keys.cast((*conflict, voter), key, header.position);
    } else if let Event::ConflictResolved { conflict, strategy, winner, .. } = event {
        let winner = winner.map(|unit| find(state, unit)).transpose()?;
        let entry = resolution(state, header, index, *strategy, winner);
        finish(state, *conflict, ConflictStatus::Resolved, entry)?;
        state.note_settled(*conflict);
    } else if let Event::ConflictEscalated { conflict, strategy, .. } = event {
        let entry = resolution(state, header, index, *strategy, None);
        finish(state, *conflict, ConflictStatus::Escalated, entry)?;
    } else {
        return Err("settles no conflict".to_owned());
    }
    Ok(())
}

fn require_conflict(state: &State, conflict: ConflictId) -> Result<(), String> {
    state.conflicts.get(conflict).map(|_| ()).ok_or_else(|| format!("no conflict {conflict}"))
}

fn resolution(
    state: &mut State,
    header: &Header<Event>,
    index: u32,
    strategy: ConflictStrategy,
    winner: Option<u32>,
) -> ResolutionEntry {
    ResolutionEntry {
        strategy,
        winner,
        by: state.names.intern(&header.actor),
        epoch: header.epoch,
        position: header.position,
        event: index,
    }
}

fn finish(
    state: &mut State,
    conflict: ConflictId,
    status: ConflictStatus,
    resolution: ResolutionEntry,
) -> Result<(), String> {
    require_conflict(state, conflict)?;
    state.conflicts.change(conflict, |entry| {
        entry.status = status;
        entry.resolution = Some(resolution);
    });
    Ok(())
}
