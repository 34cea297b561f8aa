//! ATTUNE (spec 3.4): what matters to this agent now, ranked, explained, within its budget.

use quipu_core::outline::{ConflictOutline, UnitOutline};
use quipu_log::EngineError;
use quipu_recall::Query;
use quipu_wire::{
    akashik::{
        AttunePayload, AttuneResponse, Conflict, ContextBudget, Format, ScopedMemoryUnit, UnitView,
    },
    json::page_room::PageRoom,
    limits::PAGE_BYTES_MAX,
};

use crate::{
    base::limits::CONFLICTS_ATTUNED_MAX,
    read::{
        attune::{
            budget, explain,
            filter::Without,
            rank::{self, Pick, RankingOptions, Selection},
        },
        bodies::Bodies,
        view::Published,
    },
};
use quipu_core::{Sight, state::AgentEntry};

/// What an ATTUNE will answer with, taken from the view in one go so that it can be let go of.
#[derive(Debug)]
pub struct Glance {
    picks: Vec<(Pick, UnitOutline)>,
    conflicts: Vec<ConflictOutline>,
    conflicts_open: usize,
    units_available: usize,
    below_threshold: usize,
    left_out: Vec<(Without, usize)>,
    asked: Query,
    epoch: u64,
}

/// Looks at the view, once. `second` is the hint's vector by the second model, where there is one.
#[must_use]
pub fn glance(
    published: &Published,
    agent: &AgentEntry,
    sight: &Sight<'_>,
    payload: &AttunePayload,
    options: &RankingOptions,
    second: Option<&[f32]>,
    epoch: u64,
) -> Glance {
    let state = &published.state;
    let Selection { picks, units_available, below_threshold, left_out, asked } =
        rank::select(published, agent, sight, payload, options, second);
    let picks = picks
        .into_iter()
        .filter_map(|pick| UnitOutline::of(state, pick.ordinal).map(|outline| (pick, outline)))
        .collect();
    let conflicts = state
        .conflicts
        .iter()
        .rev()
        .filter(|conflict| conflict.is_open() && sight.sees_conflict(conflict))
        .take(CONFLICTS_ATTUNED_MAX)
        .map(|conflict| ConflictOutline::of(state, conflict))
        .collect();
    let open = state.conflicts.iter().filter(|conflict| conflict.is_open());
    let conflicts_open = open.filter(|conflict| sight.sees_conflict(conflict)).count();
    Glance {
        picks,
        conflicts,
        conflicts_open,
        units_available,
        below_threshold,
        left_out,
        asked,
        epoch,
    }
}

pub(crate) fn attune(
    glance: Glance,
    bodies: &Bodies,
    payload: &AttunePayload,
    options: &RankingOptions,
) -> Result<AttuneResponse, EngineError> {
    let ranked = glance.picks.len();
    let why_few = why_few(&glance);
    let encoding = payload.scope.tokenizer.map_or(options.encoding, budget::encoding);
    let mut room = PageRoom::default();
    let (record, tokens_used) = match payload.format {
        Format::IdsOnly => (glance.picks.iter().map(|pick| id_only(pick, payload)).collect(), None),
        Format::Full | Format::Summary => {
            budget::offer(glance.picks, bodies, payload, &glance.asked, encoding, &mut room)?
        }
    };
    let mut conflicts: Vec<Conflict> = Vec::with_capacity(glance.conflicts.len());
    for conflict in glance.conflicts {
        let conflict = conflict.complete(bodies)?;
        if !room.takes(&conflict) {
            break;
        }
        conflicts.push(conflict);
    }
    let context_budget = ContextBudget {
        units_returned: record.len(),
        units_available: glance.units_available,
        tokens_used,
        tokens_budget: payload.scope.max_tokens,
    };
    let unfit = ranked - record.len();
    let unfit = (unfit > 0).then(|| match payload.scope.max_tokens {
        Some(_) => {
            format!("max_tokens: {unfit} of {ranked} ranked units do not fit, not even in brief")
        }
        None => {
            let most = PAGE_BYTES_MAX >> 20;
            format!("{unfit} of {ranked} ranked units do not fit into an answer of {most} MiB")
        }
    });
    let more = glance.conflicts_open.saturating_sub(conflicts.len());
    let more = (more > 0)
        .then(|| format!("{more} older unresolved conflicts are left out: list them with DETECT"));
    let warnings = why_few.into_iter().chain(unfit).chain(more).collect();
    let (status, epoch) = ("ok".to_owned(), glance.epoch);
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

/// Where little was found: how many units there are for this reader, and what became of them.
fn why_few(glance: &Glance) -> Option<String> {
    let below = (glance.below_threshold, "below relevance_threshold");
    let filtered = glance.left_out.iter().map(|(why, count)| (*count, why.words()));
    let reasons: Vec<String> = filtered
        .chain([below])
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    let found = glance.picks.len();
    (!reasons.is_empty()).then(|| format!("{found} units found; left out: {}", reasons.join(", ")))
}

fn id_only((pick, outline): &(Pick, UnitOutline), payload: &AttunePayload) -> ScopedMemoryUnit {
    let unit = outline.unit();
    ScopedMemoryUnit {
        memory_unit: UnitView::Id { id: unit.id.clone() },
        relevance_score: explain::rounded(pick.relevance),
        relevance_reason: explain::describe(pick, unit),
        format: None,
        explanation: explain::explanation(pick, payload),
    }
}
