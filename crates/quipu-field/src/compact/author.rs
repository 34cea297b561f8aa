//! Lets a model write summaries while it can. After its first failure the rest of a COMPACT is extracted:
//! whoever waits for it should not wait for one failure after the other.

use quipu_recall::Summarizer;

use super::memo::Memo;
use crate::base::limits::{SYNTHESES_WRITTEN_MAX, SYNTHESIS_TOKENS};

pub(super) struct Author<'a> {
    summarizer: Option<&'a dyn Summarizer>,
    memo: &'a Memo,
    left: usize,
    failure: Option<String>,
}

impl<'a> Author<'a> {
    pub(super) const fn new(summarizer: Option<&'a dyn Summarizer>, memo: &'a Memo) -> Self {
        Self { summarizer, memo, left: SYNTHESES_WRITTEN_MAX, failure: None }
    }

    /// The model's name and what it wrote; none where the text has to be extracted.
    pub(super) fn write(&mut self, notes: &str) -> Option<(&'a str, String)> {
        let summarizer = self.summarizer?;
        if self.left == 0 || self.failure.is_some() || notes.is_empty() {
            return None;
        }
        self.left -= 1;
        if let Some(text) = self.memo.get(notes) {
            return Some((summarizer.name(), text));
        }
        match summarizer.summarize(notes, SYNTHESIS_TOKENS / 2) {
            Ok(text) => {
                self.memo.keep(notes, &text);
                Some((summarizer.name(), text))
            }
            Err(error) => {
                tracing::warn!(%error, "the summarizer failed: summaries are put together from extracts");
                self.failure = Some(error.to_string());
                None
            }
        }
    }

    pub(super) fn warning(self) -> Option<String> {
        let reason = self.failure?;
        Some(format!("the summarizer failed, so summaries are in the units' own words: {reason}"))
    }
}
