//! Turns ranked units into what is sent: whole where that fits into the token budget, else in brief, else
//! not at all, the most relevant first. What is counted is the JSON that goes over the wire.

use quipu_log::EngineError;
use quipu_recall::{budget::Budget, tokens::Encoding};
use quipu_wire::akashik::{
    AttunePayload, Format, MemoryUnit, ScopedMemoryUnit, Tokenizer, UnitView,
};

use crate::{
    bodies::Bodies,
    compose::{self, UnitOutline},
    limits::{SUMMARY_TOKENS, UNIT_TOKENS_MIN},
    ranking::Pick,
    telling,
};

/// Tokens of each text of a summary, from the most that one has to what is tried before a unit is
/// left out.
const BRIEF_TOKENS: [usize; 3] = [SUMMARY_TOKENS, SUMMARY_TOKENS / 2, SUMMARY_TOKENS / 4];
/// The brackets around the list, and the comma after each entry.
const LIST_TOKENS: usize = 2;
const COMMA_TOKENS: usize = 1;

/// What is sent, and the tokens of it where there was a budget.
pub(crate) type Sent = (Vec<ScopedMemoryUnit>, Option<usize>);

/// Completes the units and fits them.
pub(crate) fn offer(
    picks: Vec<(Pick, UnitOutline)>,
    bodies: &Bodies,
    payload: &AttunePayload,
    encoding: Encoding,
) -> Result<Sent, EngineError> {
    let Some(max_tokens) = payload.scope.max_tokens else {
        let whole = |(pick, outline): (Pick, UnitOutline)| {
            let unit = outline.complete(bodies)?;
            Ok(match payload.format {
                Format::Summary => entry(&pick, &unit, Some(SUMMARY_TOKENS), payload),
                Format::Full | Format::IdsOnly => entry(&pick, &unit, None, payload),
            })
        };
        return Ok((picks.into_iter().map(whole).collect::<Result<_, EngineError>>()?, None));
    };
    let mut budget = Budget::new(max_tokens.saturating_sub(LIST_TOKENS));
    let mut record = Vec::new();
    for (pick, outline) in picks {
        if budget.left() < UNIT_TOKENS_MIN {
            break;
        }
        let unit = outline.complete(bodies)?;
        record.extend(fitted(&pick, &unit, payload, encoding, &mut budget));
    }
    Ok(settle(record, max_tokens, encoding))
}

/// The largest form of a unit that still fits.
fn fitted(
    pick: &Pick,
    unit: &MemoryUnit,
    payload: &AttunePayload,
    encoding: Encoding,
    budget: &mut Budget,
) -> Option<ScopedMemoryUnit> {
    let whole = (payload.format == Format::Full).then_some(None);
    let forms = || whole.into_iter().chain(BRIEF_TOKENS.map(Some));
    let left = budget.left();
    let cost = |form| {
        let text = ScopedMemoryUnit::sent_text(&[entry(pick, unit, form, payload)]);
        // The brackets of a list of one stand for the comma.
        encoding.count_within(&text, left).map_or(usize::MAX, |tokens| tokens + COMMA_TOKENS)
    };
    let taken = budget.spend(forms().map(cost))?;
    forms().nth(taken).map(|form| entry(pick, unit, form, payload))
}

/// Counts what is really sent. Tokens across the seams of entries could in principle add up to more
/// than the entries alone; then the least relevant one gives way.
fn settle(mut record: Vec<ScopedMemoryUnit>, max_tokens: usize, encoding: Encoding) -> Sent {
    loop {
        let used = encoding.count(&ScopedMemoryUnit::sent_text(&record));
        if used <= max_tokens || record.pop().is_none() {
            let used = if record.is_empty() { 0 } else { used };
            return (record, Some(used));
        }
    }
}

/// An entry with the unit whole, or in brief with so many tokens for each text.
fn entry(
    pick: &Pick,
    unit: &MemoryUnit,
    brief: Option<usize>,
    payload: &AttunePayload,
) -> ScopedMemoryUnit {
    let shown = brief.map_or_else(|| unit.clone(), |tokens| compose::summarized(unit, tokens));
    ScopedMemoryUnit {
        memory_unit: UnitView::Unit(Box::new(shown)),
        relevance_score: telling::rounded(pick.relevance),
        relevance_reason: telling::describe(pick, unit),
        format: Some(if brief.is_some() { Format::Summary } else { Format::Full }),
        explanation: telling::explanation(pick, payload),
    }
}

/// The encoding that is asked for.
pub(crate) const fn encoding(tokenizer: Tokenizer) -> Encoding {
    match tokenizer {
        Tokenizer::O200k => Encoding::O200k,
        Tokenizer::Cl100k => Encoding::Cl100k,
    }
}
