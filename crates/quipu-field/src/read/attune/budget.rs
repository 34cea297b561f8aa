//! Turns ranked units into what is sent: whole where that fits into the token budget, else in brief, else
//! not at all, the most relevant first. What is counted is the JSON that goes over the wire.

use quipu_core::outline::UnitOutline;
use quipu_log::EngineError;
use quipu_recall::{Query, summary::budget::Budget, text::tokens::Encoding};
use quipu_wire::{
    akashik::{AttunePayload, Format, MemoryUnit, ScopedMemoryUnit, Tokenizer, UnitView},
    json::page_room::PageRoom,
};

use crate::{
    base::limits::{SUMMARY_TOKENS, UNIT_TOKENS_MIN},
    read::{
        attune::{explain, extract, rank::Pick},
        bodies::Bodies,
    },
};

/// Tokens of each text of a summary, from the most that one has to what is tried before a unit is
/// left out.
const BRIEF_TOKENS: [usize; 3] = [SUMMARY_TOKENS, SUMMARY_TOKENS / 2, SUMMARY_TOKENS / 4];
/// The brackets around the list, and the comma after each entry.
const LIST_TOKENS: usize = 2;
const COMMA_TOKENS: usize = 1;

/// What is sent, and the tokens of it where there was a budget.
pub(crate) type Sent = (Vec<ScopedMemoryUnit>, Option<usize>);

/// Completes the units and fits them, into the budget and into what an answer has room for. What is cut short keeps what
/// answers `asked`.
pub(crate) fn offer(
    picks: Vec<(Pick, UnitOutline)>,
    bodies: &Bodies,
    payload: &AttunePayload,
    asked: &Query,
    encoding: Encoding,
    room: &mut PageRoom,
) -> Result<Sent, EngineError> {
    let form = Form { payload, asked };
    let mut record = Vec::new();
    let Some(max_tokens) = payload.scope.max_tokens else {
        for (pick, outline) in picks {
            let unit = outline.complete(bodies)?;
            let entry = match payload.format {
                Format::Summary => form.entry(&pick, &unit, Some(SUMMARY_TOKENS)),
                Format::Full | Format::IdsOnly => form.entry(&pick, &unit, None),
            };
            if !room.takes(&entry) {
                break;
            }
            record.push(entry);
        }
        return Ok((record, None));
    };
    let mut budget = Budget::new(max_tokens.saturating_sub(LIST_TOKENS));
    for (pick, outline) in picks {
        if budget.left() < UNIT_TOKENS_MIN {
            break;
        }
        let unit = outline.complete(bodies)?;
        let Some(entry) = fitted(&pick, &unit, form, encoding, &mut budget) else { continue };
        if !room.takes(&entry) {
            break;
        }
        record.push(entry);
    }
    Ok(settle(record, max_tokens, encoding))
}

/// The largest form of a unit that still fits.
fn fitted(
    pick: &Pick,
    unit: &MemoryUnit,
    form: Form<'_>,
    encoding: Encoding,
    budget: &mut Budget,
) -> Option<ScopedMemoryUnit> {
    let whole = (form.payload.format == Format::Full).then_some(None);
    let sizes = || whole.into_iter().chain(BRIEF_TOKENS.map(Some));
    let left = budget.left();
    let cost = |size| {
        let text = ScopedMemoryUnit::sent_text(&[form.entry(pick, unit, size)]);
        // The brackets of a list of one stand for the comma.
        encoding.count_within(&text, left).map_or(usize::MAX, |tokens| tokens + COMMA_TOKENS)
    };
    let taken = budget.spend(sizes().map(cost))?;
    sizes().nth(taken).map(|size| form.entry(pick, unit, size))
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

/// What the form of every entry of one answer depends on.
#[derive(Debug, Clone, Copy)]
struct Form<'a> {
    payload: &'a AttunePayload,
    asked: &'a Query,
}

impl Form<'_> {
    /// An entry with the unit whole, or in brief with so many tokens for each text.
    fn entry(self, pick: &Pick, unit: &MemoryUnit, brief: Option<usize>) -> ScopedMemoryUnit {
        let shown = brief
            .map_or_else(|| unit.clone(), |tokens| extract::summarized(unit, self.asked, tokens));
        ScopedMemoryUnit {
            memory_unit: UnitView::Unit(Box::new(shown)),
            relevance_score: explain::rounded(pick.relevance),
            relevance_reason: explain::describe(pick, unit),
            format: Some(if brief.is_some() { Format::Summary } else { Format::Full }),
            explanation: explain::explanation(pick, self.payload),
        }
    }
}

pub(crate) const fn encoding(tokenizer: Tokenizer) -> Encoding {
    match tokenizer {
        Tokenizer::O200k => Encoding::O200k,
        Tokenizer::Cl100k => Encoding::Cl100k,
    }
}
