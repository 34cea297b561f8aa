//! Why a reader is given each unit, in words and in numbers.

use quipu_recall::rank::explain::{Facts, reason};
use quipu_wire::akashik::{AttunePayload, Explanation, FactorExplanation, MemoryUnit};

use crate::read::attune::rank::{Pick, small};

/// The two or three things that mattered most.
pub(crate) fn describe(pick: &Pick, unit: &MemoryUnit) -> String {
    let hint: Vec<&str> = pick.hint_words.iter().map(String::as_str).collect();
    let own: Vec<&str> = pick.own_words.iter().map(String::as_str).collect();
    let confidence = unit.confidence.as_ref().and_then(|given| given.score);
    let facts = Facts {
        type_name: unit.kind.as_str(),
        author_role: &unit.source.agent_role,
        hint_terms: &hint,
        own_terms: &own,
        same_task: pick.same_task,
        confidence: confidence.map(small),
    };
    reason(&pick.score, &facts)
}

/// Every factor with its value, where the scope asks to explain.
pub(crate) fn explanation(pick: &Pick, payload: &AttunePayload) -> Option<Explanation> {
    if !payload.scope.explain {
        return None;
    }
    let mut factors: Vec<FactorExplanation> = pick
        .score
        .contributions
        .iter()
        .map(|factor| FactorExplanation {
            factor: factor.factor.to_owned(),
            value: rounded(factor.raw),
            weight: rounded(factor.weight),
            contribution: rounded(factor.contribution),
        })
        .collect();
    factors.sort_by(|a, b| b.contribution.total_cmp(&a.contribution));
    Some(Explanation { factors, diversity_discount: rounded(pick.discount) })
}

/// Six digits: enough to tell units apart, few enough to read.
pub(crate) fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1e6).round() / 1e6
}
