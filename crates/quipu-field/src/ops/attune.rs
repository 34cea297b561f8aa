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
    limits::{CONFLICTS_ATTUNED_MAX, UNIT_TOKENS_MIN},
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
    conflicts_open: usize,
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
        .rev()
        .filter(|conflict| conflict.is_open() && sight.sees_conflict(conflict))
        .take(CONFLICTS_ATTUNED_MAX)
        .map(|conflict| compose::outline_conflict(state, conflict))
        .collect();
    let open = state.conflicts.iter().filter(|conflict| conflict.is_open());
    let conflicts_open = open.filter(|conflict| sight.sees_conflict(conflict)).count();
    Glance { picks, conflicts, conflicts_open, units_available, epoch }
}

/// Fetches the texts and answers.
pub fn attune(
    glance: Glance,
    bodies: &Bodies,
    payload: &AttunePayload,
) -> Result<AttuneResponse, EngineError> {
    let Glance { picks, conflicts, conflicts_open, units_available, epoch } = glance;
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
    let more = conflicts_open.saturating_sub(conflicts.len());
    let warnings = (more > 0)
        .then(|| format!("{more} older unresolved conflicts are left out: list them with DETECT"))
        .into_iter()
        .collect();
    let status = "ok".to_owned();
    let (as_of_epoch, trace_id) = (None, None);
    Ok(AttuneResponse {
        status,
        record,
        conflicts,
        context_budget,
        epoch,
        as_of_epoch,
        trace_id,
        warnings,
    })
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
    let Some(max_tokens) = payload.scope.max_tokens else {
        let whole = |(pick, outline): (Pick, UnitOutline)| {
            let offer = Offer::new(pick, outline.complete(bodies)?, payload);
            Ok(offer.into_wire(payload.format, payload))
        };
        return Ok((picks.into_iter().map(whole).collect::<Result<_, EngineError>>()?, None));
    };
    let (mut record, mut left) = (Vec::new(), max_tokens);
    for (pick, outline) in picks {
        if left < UNIT_TOKENS_MIN {
            break;
        }
        let offer = Offer::new(pick, outline.complete(bodies)?, payload);
        let (format, tokens) = match budget::fit(&[offer.item], left).first() {
            Some(Fit::Full) => (Format::Full, offer.item.full_tokens),
            Some(Fit::Summary) => (Format::Summary, offer.item.summary_tokens),
            Some(Fit::LeftOut) | None => continue,
        };
        left -= tokens;
        record.push(offer.into_wire(format, payload));
    }
    Ok((record, Some(max_tokens - left)))
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
