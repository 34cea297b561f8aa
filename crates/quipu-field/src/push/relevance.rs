//! How much a push matters to a subscriber: the scoring of ATTUNE without a hint, with each unit as
//! the newest one. Words are weighed against what the subscriber said of itself alone and not against
//! the rest of the Field, so that the score of an event is the same whenever it is computed.

use std::sync::{Mutex, PoisonError};

use quipu_recall::{
    Query, Weights, coverage,
    rank::score::{self, Signals},
};
use quipu_wire::akashik::Mode;

use super::prepared::{PreparedNotice, UnitFacts};
use crate::read::attune::{
    query::{INTEREST_WEIGHT, ROLE_WEIGHT},
    rank::small,
    roles::role_alignment,
};
use quipu_core::state::{SubscriptionEntry, is_standing};

/// What a subscriber said of itself, as words to look for.
pub(super) fn query(entry: &SubscriptionEntry) -> Query {
    let interests = entry.interests.iter().map(|interest| (interest.as_str(), INTEREST_WEIGHT));
    let parts: Vec<(&str, f32)> = interests.chain([(entry.role.as_str(), ROLE_WEIGHT)]).collect();
    Query::new(&parts)
}

/// What a notice mattered to the subscriber that asked last. Many agents say the same of themselves, so the next one
/// most often asks for the same.
#[derive(Debug, Default)]
pub(super) struct LastRelevance(Mutex<Option<Answered>>);

#[derive(Debug)]
struct Answered {
    role: String,
    interests: Vec<String>,
    relevance: f64,
}

impl LastRelevance {
    fn get_or_weigh(&self, entry: &SubscriptionEntry, weigh: impl FnOnce() -> f64) -> f64 {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && last.role == entry.role
            && last.interests == entry.interests
        {
            return last.relevance;
        }
        let relevance = weigh();
        let (role, interests) = (entry.role.clone(), entry.interests.clone());
        *last = Some(Answered { role, interests, relevance });
        relevance
    }
}

/// From 0 to 1, in six digits. What is about no unit, or about the subscriber's own, always matters.
pub(super) fn relevance(entry: &SubscriptionEntry, query: &Query, notice: &PreparedNotice) -> f64 {
    let concerns = notice.units.iter().any(|unit| unit.author == entry.agent);
    if notice.notice.units.is_empty() || concerns {
        return 1.0;
    }
    notice.last_relevance.get_or_weigh(entry, || {
        let best = notice.units.iter().map(|unit| of_unit(entry, query, unit)).fold(0.0, f32::max);
        (f64::from(best) * 1e6).round() / 1e6
    })
}

fn of_unit(entry: &SubscriptionEntry, query: &Query, unit: &UnitFacts) -> f32 {
    let signals = Signals {
        interests: (!query.is_empty()).then(|| coverage(query, &unit.words)),
        recency: 1.0,
        role: role_alignment(&entry.role, &unit.role),
        type_importance: score::type_importance(unit.memory_type.as_str()),
        confidence: unit.confidence.map(small),
        is_draft: unit.mode == Mode::Draft,
        standing: if is_standing(unit.memory_type) && unit.words.is_rule() { 1.0 } else { 0.0 },
        ..Signals::default()
    };
    score::score(&signals, &Weights::UNHINTED).value
}
