//! ATTUNE (spec 3.4): what matters to this agent now, ranked, explained, within its budget.

use quipu_log::EngineError;
use quipu_recall::{
    budget::{self, Fit, Item},
    explain::{Facts, reason},
    tokens,
};
use quipu_wire::{
    akashik::{
        AttunePayload, AttuneResponse, Conflict, ContextBudget, Explanation, FactorExplanation,
        Format, MemoryUnit, ScopedMemoryUnit, UnitView,
    },
    canon,
};

use crate::{
    bodies::Bodies,
    compose::{self, ConflictOutline, UnitOutline},
    limits::CONFLICTS_RETURNED_MAX,
    ranking::{self, Pick, Selection},
    state::AgentEntry,
    view::Published,
    visibility::Sight,
};

/// The authority that ATTUNE needs.
pub const AUTHORITY: u8 = 2;

/// What an ATTUNE will answer with, taken from the view in one go so that it can be let go of.
#[derive(Debug)]
pub struct Glance {
    picks: Vec<(Pick, UnitOutline)>,
    conflicts: Vec<ConflictOutline>,
    units_available: usize,
    epoch: u64,
}

/// Looks at the view, once.
#[must_use]
pub fn glance(
    published: &Published,
    agent: &AgentEntry,
    sight: &Sight<'_>,
    payload: &AttunePayload,
    epoch: u64,
) -> Glance {
    let state = &published.state;
    let Selection { picks, units_available } = ranking::select(published, agent, sight, payload);
    let picks = picks
        .into_iter()
        .filter_map(|pick| compose::outline(state, pick.ordinal).map(|outline| (pick, outline)))
        .collect();
    let conflicts = state
        .conflicts
        .iter()
        .filter(|conflict| conflict.is_open() && sight.sees_conflict(conflict))
        .take(CONFLICTS_RETURNED_MAX)
        .map(|conflict| compose::outline_conflict(state, conflict))
        .collect();
    Glance { picks, conflicts, units_available, epoch }
}

/// Fetches the texts and answers.
pub fn attune(
    glance: Glance,
    bodies: &Bodies,
    payload: &AttunePayload,
) -> Result<AttuneResponse, EngineError> {
    let Glance { picks, conflicts, units_available, epoch } = glance;
    let (record, tokens_used) = match payload.format {
        Format::IdsOnly => {
            let ids = picks.iter().map(|(pick, unit)| id_only(pick, unit, payload)).collect();
            (ids, None)
        }
        Format::Full | Format::Summary => with_texts(picks, bodies, payload)?,
    };
    let conflicts = conflicts
        .into_iter()
        .map(|conflict| conflict.complete(bodies))
        .collect::<Result<Vec<Conflict>, _>>()?;
    let context_budget = ContextBudget {
        units_returned: record.len(),
        units_available,
        tokens_used,
        tokens_budget: payload.scope.max_tokens,
    };
    let status = "ok".to_owned();
    Ok(AttuneResponse { status, record, conflicts, context_budget, epoch, warnings: Vec::new() })
}

fn id_only(pick: &Pick, unit: &UnitOutline, payload: &AttunePayload) -> ScopedMemoryUnit {
    ScopedMemoryUnit {
        memory_unit: UnitView::Id { id: unit.unit().id.clone() },
        relevance_score: rounded(pick.relevance),
        relevance_reason: describe(pick, unit.unit(), payload),
        format: None,
        explanation: explanation(pick, payload),
    }
}

type Ranked = (Vec<ScopedMemoryUnit>, Option<usize>);

fn with_texts(
    picks: Vec<(Pick, UnitOutline)>,
    bodies: &Bodies,
    payload: &AttunePayload,
) -> Result<Ranked, EngineError> {
    let wanted = payload.format;
    let mut units = Vec::with_capacity(picks.len());
    let mut spent = 0;
    for (pick, outline) in picks {
        // Once the budget is spent no later unit can fit, however short; a unit is a token at least.
        if payload.scope.max_tokens.is_some_and(|budget| spent > budget.saturating_mul(2)) {
            break;
        }
        let unit = outline.complete(bodies)?;
        let offer = Offer::new(pick, unit, payload);
        spent += offer.item.summary_tokens;
        units.push(offer);
    }
    let Some(max_tokens) = payload.scope.max_tokens else {
        let whole = units.into_iter().map(|offer| offer.into_wire(wanted, payload)).collect();
        return Ok((whole, None));
    };
    let items: Vec<Item> = units.iter().map(|offer| offer.item).collect();
    let mut used = 0;
    let mut record = Vec::new();
    for (offer, fit) in units.into_iter().zip(budget::fit(&items, max_tokens)) {
        let (format, tokens) = match fit {
            Fit::Full => (Format::Full, offer.item.full_tokens),
            Fit::Summary => (Format::Summary, offer.item.summary_tokens),
            Fit::LeftOut => continue,
        };
        used += tokens;
        record.push(offer.into_wire(format, payload));
    }
    Ok((record, Some(used)))
}

/// A unit that could be returned, and what each form of it would cost.
struct Offer {
    pick: Pick,
    unit: MemoryUnit,
    item: Item,
}

impl Offer {
    fn new(pick: Pick, unit: MemoryUnit, payload: &AttunePayload) -> Self {
        let item = match (payload.scope.max_tokens, payload.format) {
            (None, _) => Item { full_tokens: 0, summary_tokens: 0 },
            (Some(_), Format::Full | Format::IdsOnly) => {
                Item { full_tokens: cost(&unit), summary_tokens: cost(&compose::summarized(&unit)) }
            }
            (Some(_), Format::Summary) => {
                let summary_tokens = cost(&compose::summarized(&unit));
                // Only the summary was asked for, so the whole never fits.
                Item { full_tokens: usize::MAX, summary_tokens }
            }
        };
        Self { pick, unit, item }
    }

    fn into_wire(self, format: Format, payload: &AttunePayload) -> ScopedMemoryUnit {
        let Self { pick, unit, .. } = self;
        let relevance_reason = describe(&pick, &unit, payload);
        let unit = if format == Format::Full { unit } else { compose::summarized(&unit) };
        ScopedMemoryUnit {
            memory_unit: UnitView::Unit(Box::new(unit)),
            relevance_score: rounded(pick.relevance),
            relevance_reason,
            format: Some(format),
            explanation: explanation(&pick, payload),
        }
    }
}

/// The tokens of a unit as it is sent.
fn cost(unit: &MemoryUnit) -> usize {
    canon::to_string(unit).map_or(usize::MAX, |text| tokens::count(&text))
}

fn describe(pick: &Pick, unit: &MemoryUnit, payload: &AttunePayload) -> String {
    let hint = payload.context_hint.as_deref().unwrap_or_default().to_lowercase();
    let all = || pick.shared_words.iter().map(String::as_str);
    let of_hint: Vec<&str> = all().filter(|word| hint.contains(&word.to_lowercase())).collect();
    let (shared, asked_in) = if of_hint.is_empty() {
        (all().collect(), "your role and interests")
    } else {
        (of_hint, "your hint")
    };
    let confidence = unit.confidence.as_ref().and_then(|given| given.score);
    let facts = Facts {
        type_name: unit.kind.as_str(),
        author_role: &unit.source.agent_role,
        matched_terms: &shared,
        asked_in,
        same_task: pick.same_task,
        confidence: confidence.map(narrowed),
    };
    reason(&pick.score, &facts)
}

fn explanation(pick: &Pick, payload: &AttunePayload) -> Option<Explanation> {
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
fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1e6).round() / 1e6
}

#[expect(clippy::cast_possible_truncation, reason = "a fraction, only compared with a threshold")]
fn narrowed(value: f64) -> f32 {
    value as f32
}
