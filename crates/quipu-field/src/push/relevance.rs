//! How much a push matters to a subscriber: the scoring of ATTUNE without a hint, with each unit as
//! the newest one. Words are weighed against what the subscriber said of itself alone and not against
//! the rest of the Field, so that the score of an event is the same whenever it is looked at.

use quipu_recall::{
    Query, coverage,
    score::{self, Signals, Weights},
};
use quipu_wire::akashik::Mode;

use super::prepared::{PreparedNotice, UnitFacts};
use crate::{
    ranking::{INTEREST_WEIGHT, ROLE_WEIGHT, role_alignment, small},
    state::SubscriptionEntry,
};

/// What a subscriber said of itself, as words to look for.
pub(super) fn query(entry: &SubscriptionEntry) -> Query {
    let interests = entry.interests.iter().map(|interest| (interest.as_str(), INTEREST_WEIGHT));
    let parts: Vec<(&str, f32)> = interests.chain([(entry.role.as_str(), ROLE_WEIGHT)]).collect();
    Query::new(&parts)
}

/// From 0 to 1, in six digits. What is about no unit, or about the subscriber's own, always matters.
pub(super) fn relevance(entry: &SubscriptionEntry, query: &Query, notice: &PreparedNotice) -> f64 {
    let concerns = notice.units.iter().any(|unit| unit.author == entry.agent);
    if notice.notice.units.is_empty() || concerns {
        return 1.0;
    }
    let best = notice.units.iter().map(|unit| of_unit(entry, query, unit)).fold(0.0, f32::max);
    (f64::from(best) * 1e6).round() / 1e6
}

fn of_unit(entry: &SubscriptionEntry, query: &Query, unit: &UnitFacts) -> f32 {
    let signals = Signals {
        lexical: (!query.is_empty()).then(|| coverage(query, &unit.words)),
        recency: 1.0,
        role: role_alignment(&entry.role, &unit.role),
        type_importance: score::type_importance(unit.memory_type.as_str()),
        confidence: unit.confidence.map(small),
        task: 0.0,
        relation: 0.0,
        is_draft: unit.mode == Mode::Draft,
    };
    score::score(&signals, &Weights::default()).value
}
