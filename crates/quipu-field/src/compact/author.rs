//! Lets a model write summaries while it can. What it writes is kept only if it is shorter than the units, names no figure that
//! they do not, and keeps as much as is asked for. After its first failure the rest of a COMPACT is extracted: whoever waits
//! for it should not wait for one failure after the other.

use quipu_recall::{
    Summarizer,
    summary::facts::{Plain, facts},
};
use quipu_wire::akashik::{Fidelity, Kept};

use super::{
    brief::{Member, chars, standing},
    fidelity,
    memo::Memo,
};
use crate::base::limits::{SYNTHESES_WRITTEN_MAX, SYNTHESIS_TOKENS};

pub(super) struct Author<'a> {
    summarizer: Option<&'a dyn Summarizer>,
    memo: &'a Memo,
    /// How much of the units a text must keep.
    minimum: Option<f64>,
    left: usize,
    failure: Option<String>,
    /// Why texts of the model were not kept, and how many.
    declined: Option<(&'static str, usize)>,
}

impl<'a> Author<'a> {
    pub(super) const fn new(
        summarizer: Option<&'a dyn Summarizer>,
        memo: &'a Memo,
        minimum: Option<f64>,
    ) -> Self {
        let left = SYNTHESES_WRITTEN_MAX;
        Self { summarizer, memo, minimum, left, failure: None, declined: None }
    }

    /// The model's name and what it wrote; none where the text has to be extracted, as `extract` is.
    pub(super) fn write(
        &mut self,
        notes: &str,
        members: &[Member<'_>],
        extract: &str,
    ) -> Option<(&'a str, String)> {
        let summarizer = self.summarizer?;
        if self.left == 0 || self.failure.is_some() || notes.is_empty() {
            return None;
        }
        self.left -= 1;
        let text = match self.memo.get(notes) {
            Some(text) => text,
            None => match summarizer.summarize(notes, SYNTHESIS_TOKENS / 2) {
                Ok(text) => {
                    self.memo.keep(notes, &text);
                    text
                }
                Err(error) => {
                    tracing::warn!(%error, "the summarizer failed: summaries are put together from extracts");
                    self.failure = Some(error.to_string());
                    return None;
                }
            },
        };
        if let Some(reason) = self.reason_against(&text, members, extract) {
            tracing::warn!(reason, "a summary that a model wrote is not kept");
            self.declined = Some((reason, self.declined.map_or(1, |(_, count)| count + 1)));
            return None;
        }
        Some((summarizer.name(), text))
    }

    /// Why a text is not kept.
    fn reason_against(
        &self,
        text: &str,
        members: &[Member<'_>],
        extract: &str,
    ) -> Option<&'static str> {
        if text.chars().count() >= chars(members) {
            return Some("is not shorter than the units");
        }
        if invents(text, members) {
            return Some("names a figure that the units do not");
        }
        let (own, extracted) = (fidelity::kept(members, text), fidelity::kept(members, extract));
        let loses = |own: Kept, extracted: Kept| own.kept < extracted.kept;
        if loses(own.rules, extracted.rules) || loses(own.decisions, extracted.decisions) {
            return Some("loses a decision or a rule");
        }
        let overall = |kept: Fidelity| kept.weighed().overall;
        let least = self.minimum.unwrap_or_else(|| overall(extracted) / 2.0);
        (overall(own) < least).then_some("loses too much")
    }

    pub(super) fn warning(self) -> Option<String> {
        if let Some(reason) = self.failure {
            return Some(format!(
                "the summarizer failed, so summaries are in the units' own words: {reason}"
            ));
        }
        let (reason, count) = self.declined?;
        Some(format!(
            "texts of the summarizer that were not kept, so that the units' own words stand there: {count}; the last one {reason}"
        ))
    }
}

/// Whether a text names a number or a date that none of its units does.
fn invents(text: &str, members: &[Member<'_>]) -> bool {
    let told = standing(members);
    let said: Vec<String> = told
        .iter()
        .map(|(source, body)| format!("{} {}", super::brief::day(source.time_ms), body.content))
        .collect();
    let said = Plain::new(&said.join(" "));
    let named = facts(text);
    named.numbers.iter().chain(&named.dates).any(|figure| !said.says(figure))
}
