//! A session whose units are shown to fewer than before. A unit changes the status of another only where whoever sees
//! the other sees it too; so what its units replaced or contested is back where that is no longer so.

use std::collections::BTreeSet;

use quipu_wire::akashik::{RestoredFrom, SessionPolicy, UnitStatus};

use super::{
    Decision,
    detect::{is_disputed, is_visible_with},
    pending_status::Standing,
    policies::Policies,
    replacing::Replacements,
};
use crate::{
    event::Event,
    state::{Name, State},
};

/// What follows from the policy that a session is about to have: of a label that becomes a session too.
pub(super) fn narrowed(state: &State, session: &str, policy: &SessionPolicy) -> Decision {
    let (before, after) = (Policies::from(state), Policies::with(state, session, policy));
    let Some(name) = state.names.find(session) else { return Decision::new() };
    if !is_narrower(before.of(session), policy) {
        return Decision::new();
    }
    let hidden = |(unit, by): &(u32, u32)| !is_visible_with(after, *unit, *by);
    let replacements = Replacements::of(state);
    let replaced = replacements.by_session(name).into_iter().filter(hidden);
    let replaced: BTreeSet<u32> = replaced.map(|(unit, _)| unit).collect();
    let contested = contested_by(state, name).into_iter().filter(hidden);
    let contested: BTreeSet<u32> = contested.map(|(unit, _)| unit).collect();
    let (replacements, nobody) = (replacements.under(after), BTreeSet::new());
    let mut standing = Standing::new(state);
    for ordinal in replaced {
        let Some((flags, details)) = state.units.flags(ordinal).zip(state.units.details(ordinal))
        else {
            continue;
        };
        let to = replacements.status_of(ordinal, None, &nobody);
        let is_back = flags.status == UnitStatus::Superseded && to != UnitStatus::Superseded;
        if is_back && !flags.purged {
            let (unit, from) = (details.id, RestoredFrom::Superseded);
            standing.push(Event::UnitRestored { unit, from, to }, None);
            standing.change(ordinal, to);
        }
    }
    for ordinal in contested {
        let is_contested = standing.status(ordinal) == UnitStatus::Contested;
        if is_contested && !is_disputed(after, ordinal, None) {
            standing.change(ordinal, UnitStatus::Active);
        }
    }
    standing.events
}

/// Whether a policy may hide units from somebody who saw them and still sees others.
fn is_narrower(before: Option<&SessionPolicy>, after: &SessionPolicy) -> bool {
    let has_rules = |policy: &SessionPolicy| !policy.visibility_rules.is_empty();
    let is_shown = |policy: &SessionPolicy| policy.cross_session_visibility && !has_rules(policy);
    let (was_shown, had_rules) = (before.is_some_and(is_shown), before.is_some_and(has_rules));
    (was_shown && !is_shown(after)) || (!had_rules && has_rules(after))
}

/// The units that are in an open conflict with units of a session, each with the other one.
fn contested_by(state: &State, session: Name) -> BTreeSet<(u32, u32)> {
    let within = |unit: u32| state.units.session_of(unit) == Some(session);
    let open = state.conflicts.iter().filter(|conflict| conflict.is_open());
    let pairs = open.flat_map(|it| [(it.unit_a, it.unit_b), (it.unit_b, it.unit_a)]);
    let pairs = pairs.filter(|(unit, by)| within(*by) && is_visible_with(state, *unit, *by));
    pairs.collect()
}
