//! Votes on a conflict: every MERGE with `vote` is a ballot. An agent has one, and may change it while
//! the vote is open; of those that came through one key for any agent the last one counts. Once there is a quorum the majority of ballots decides; where everybody who may
//! vote has voted and there is none, the conflict is escalated.

use std::collections::BTreeMap;

use quipu_log::DraftEvent;
use quipu_wire::akashik::{BALLOT_AUTHORITY, ConflictStatus, VoteTally};

use super::{Case, Error, Side, begin, escalate, may_favour, may_settle, settle};
use crate::{
    event::Event,
    limits::VOTE_QUORUM_MIN,
    rules::Decision,
    rules::{merge::MergeCommand, replacing::Claim},
    state::{Name, State},
};

/// Who casts a ballot, and with what right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voter<'a> {
    pub(crate) name: Name,
    pub(crate) claim: Claim<'a>,
    /// Its key, where all names that speak through that have one ballot.
    pub(crate) key: Option<&'a str>,
}

/// Casts the caller's ballot, and closes the vote where that decides it.
pub(crate) fn cast(
    case: &Case<'_>,
    merge: &MergeCommand,
    voter: Voter<'_>,
    events: &mut Decision,
) -> Result<(), Error> {
    let claim = voter.claim;
    let choice = case.standing(merge.winner.as_deref().unwrap_or_default())?;
    let mut given = case.entry.ballots.clone();
    given.insert(voter.name, choice.ordinal);
    let ballots = counted(case, voter, &given);
    let tally = VoteTally {
        unit_a: count(&ballots, case.a.ordinal),
        unit_b: count(&ballots, case.b.ordinal),
        quorum: quorum(case, merge)?,
    };
    begin(case, merge, events);
    let event = Event::ConflictBallotCast {
        conflict: case.entry.id,
        choice: choice.id,
        tally,
        authority: Some(claim.authority),
        key: voter.key.map(str::to_owned),
    };
    events.push(DraftEvent { event, body: Some(merge.ballot.clone()) });
    if tally.unit_a + tally.unit_b < tally.quorum {
        return Ok(());
    }
    let ahead = match tally.unit_a.cmp(&tally.unit_b) {
        std::cmp::Ordering::Greater => Some(&case.a),
        std::cmp::Ordering::Less => Some(&case.b),
        std::cmp::Ordering::Equal => None,
    };
    match ahead {
        Some(winner)
            if winner.stands && may_prevail(case, (voter.name, claim), &ballots, winner) =>
        {
            if has_its_authors_vote_alone(case, voter, &ballots, winner) {
                may_favour(case, claim, winner)?;
            }
            settle(case, merge, winner, events);
        }
        // What the majority wants was replaced or withdrawn meanwhile, or nobody who wants it may replace the other
        // unit: the strategy failed.
        Some(_) => escalate(case, merge, events),
        None if electorate(case.state).all(|elector| given.contains_key(&elector)) => {
            escalate(case, merge, events);
        }
        None => {}
    }
    Ok(())
}

/// The ballots that count: of those that came through one key for any agent the last.
fn counted(case: &Case<'_>, voter: Voter<'_>, given: &BTreeMap<Name, u32>) -> BTreeMap<Name, u32> {
    let (keys, conflict) = (&case.state.ballot_keys, case.entry.id);
    let own_key = voter.key.and_then(|key| case.state.names.find(key));
    let counts = |of: Name| {
        let repeated = own_key.is_some() && keys.of(conflict, of) == own_key;
        of == voter.name || keys.counts(conflict, of, voter.name) && !repeated
    };
    given.iter().filter(|(of, _)| counts(**of)).map(|(of, unit)| (*of, *unit)).collect()
}

/// Whether the unit with more ballots, or one of those who cast them, has the authority to replace the other one.
fn may_prevail(
    case: &Case<'_>,
    (caller, claim): (Name, Claim<'_>),
    ballots: &BTreeMap<Name, u32>,
    winner: &Side<'_>,
) -> bool {
    let authority = |voter: &Name| {
        if *voter == caller {
            return claim.authority;
        }
        let registered = || Some(case.state.agents.get(case.state.names.text(*voter))?.authority);
        let cast = case.state.backing.ballot(case.entry.id, *voter).or_else(registered);
        cast.unwrap_or_default()
    };
    let voters = ballots.iter().filter(|(_, choice)| **choice == winner.ordinal);
    let voters = voters.map(|(voter, _)| authority(voter)).max().unwrap_or_default();
    may_settle(case, claim, winner, voters).is_ok()
}

/// Whether nobody but its author voted for a unit, or only through the key that it came with: that is no vote, but a word
/// in favour of one's own.
fn has_its_authors_vote_alone(
    case: &Case<'_>,
    voter: Voter<'_>,
    ballots: &BTreeMap<Name, u32>,
    winner: &Side<'_>,
) -> bool {
    let state = case.state;
    let author = state.units.flags(winner.ordinal).map(|unit| unit.author);
    let through = state.unit_keys.of(winner.ordinal);
    let key_of = |of: Name| match of == voter.name {
        true => voter.key.and_then(|key| state.names.find(key)),
        false => state.ballot_keys.of(case.entry.id, of),
    };
    let mut voters = ballots.iter().filter(|(_, choice)| **choice == winner.ordinal);
    voters.all(|(of, _)| Some(*of) == author || through.is_some() && key_of(*of) == through)
}

fn count(ballots: &BTreeMap<Name, u32>, unit: u32) -> u32 {
    let votes = ballots.values().filter(|choice| **choice == unit).count();
    u32::try_from(votes).unwrap_or(u32::MAX)
}

/// Who may vote: every agent that takes part now and may record.
fn electorate(state: &State) -> impl Iterator<Item = Name> {
    let may = state.agents.all_live().filter(|(_, agent)| agent.authority >= BALLOT_AUTHORITY);
    may.map(|(_, agent)| agent.name)
}

/// The ballots that it takes: as whoever called the vote said, else by the rules of the units' sessions,
/// the stricter of two, else the Field's own rule.
fn quorum(case: &Case<'_>, merge: &MergeCommand) -> Result<u32, Error> {
    let called = case.entry.status != ConflictStatus::Detected;
    let given = if called { case.entry.quorum } else { merge.quorum };
    let quorum = given.or_else(|| of_sessions(case)).unwrap_or_else(|| majority(case.state));
    match merge.quorum {
        // The terms of a vote do not change while it is open.
        Some(asked) if asked != quorum => {
            Err(Error::OtherQuorum { conflict: case.entry.id, asked, quorum })
        }
        Some(_) | None => Ok(quorum),
    }
}

fn of_sessions(case: &Case<'_>) -> Option<u32> {
    let of = |side: &Side<'_>| {
        let session = case.state.names.text(side.details.session?);
        case.state.sessions.get(session)?.policy.quorum
    };
    let quorum = of(&case.a).max(of(&case.b))?;
    Some(u32::try_from(quorum).unwrap_or(u32::MAX))
}

/// A majority of those who may vote, and two at least: nobody is a majority alone.
fn majority(state: &State) -> u32 {
    let majority = electorate(state).count() / 2 + 1;
    u32::try_from(majority).unwrap_or(u32::MAX).max(VOTE_QUORUM_MIN)
}
