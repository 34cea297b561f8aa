//! Owns what one text contributes to the index: its distinct terms, how often each occurs, its length,
//! its vectors, whether it lays down a rule.
//! Knows no ordinal and no index, so that it can run before any lock is taken.

use std::collections::HashMap;

use crate::embed::builtin;
use crate::embedding::Embedding;
use crate::limits::MAX_DOCUMENT_TERMS;
use crate::standing::lays_down_a_rule;
use crate::words::for_each_word;

/// The distinct terms of one text, and its vectors by the built-in model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Analyzed {
    text: String,
    entries: Vec<Entry>,
    length: u32,
    embedding: Embedding,
    is_rule: bool,
}

/// One term: where it ends in the shared string, and how often it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    end: usize,
    frequency: u32,
}

impl Analyzed {
    /// The terms in ascending order, each with its frequency (at least 1).
    pub fn terms(&self) -> impl Iterator<Item = (&str, u32)> {
        let mut start = 0;
        self.entries.iter().map(move |entry| {
            let term = self.text.get(start..entry.end).unwrap_or_default();
            start = entry.end;
            (term, entry.frequency)
        })
    }

    /// Whether the text has the term, which is not stemmed or folded first.
    pub fn has(&self, term: &str) -> bool {
        let start = |at: usize| at.checked_sub(1).map_or(0, |before| self.entries[before].end);
        let (mut low, mut high) = (0, self.entries.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.text[start(middle)..self.entries[middle].end].cmp(term) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    /// How many words the text has, repetitions included and stop words left out.
    pub const fn length(&self) -> u32 {
        self.length
    }

    /// How many different terms were kept.
    pub fn distinct(&self) -> usize {
        self.entries.len()
    }

    /// The vectors.
    pub const fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// Whether the text lays down a rule that holds from then on.
    pub const fn is_rule(&self) -> bool {
        self.is_rule
    }

    /// Whether the text has no term.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Splits `text` into terms (lower case, without English stop words, stemmed) and embeds it.
///
/// Linear in the text. Past [`MAX_DOCUMENT_TERMS`] different terms, new ones are no longer kept.
pub fn analyze(text: &str) -> Analyzed {
    analyze_with(text, "")
}

/// As [`analyze`], with a text that stands around it, such as why it was written: its words can be
/// found, and the meaning is that of the first text alone.
pub fn analyze_with(text: &str, around: &str) -> Analyzed {
    let mut counts: HashMap<Box<str>, u32> = HashMap::new();
    let mut length = 0_u32;
    for part in [text, around] {
        for_each_word(part, |_, term| {
            length = length.saturating_add(1);
            if let Some(count) = counts.get_mut(term) {
                *count = count.saturating_add(1);
            } else if counts.len() < MAX_DOCUMENT_TERMS {
                counts.insert(Box::from(term), 1);
            }
        });
    }
    let mut sorted: Vec<(Box<str>, u32)> = counts.into_iter().collect();
    sorted.sort_unstable();
    let mut analyzed = Analyzed {
        text: String::with_capacity(sorted.iter().map(|(term, _)| term.len()).sum()),
        entries: Vec::with_capacity(sorted.len()),
        length,
        embedding: Embedding::new([builtin().vector(text).as_slice()]),
        is_rule: lays_down_a_rule(text),
    };
    for (term, frequency) in sorted {
        analyzed.text.push_str(&term);
        analyzed.entries.push(Entry { end: analyzed.text.len(), frequency });
    }
    analyzed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_term_once_with_its_frequency() {
        let analyzed = analyze("The market grows. Markets grew; the market is growing.");
        let terms: Vec<_> = analyzed.terms().collect();
        assert_eq!(terms, [("grew", 1), ("grow", 2), ("market", 3)]);
        assert_eq!((analyzed.length(), analyzed.distinct()), (6, 3));
        assert!(["grew", "grow", "market"].iter().all(|term| analyzed.has(term)));
        assert!(["", "gr", "growth", "z"].iter().all(|term| !analyzed.has(term)));
    }

    #[test]
    fn survives_bad_texts() {
        let base64 = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo+/".repeat(3000);
        let emoji = "👩‍👩‍👧‍👦🏳️‍🌈".repeat(2000);
        for text in ["", " ", "word", &base64, &emoji, "\u{202E}שלום עולם\u{202C}", "\0\u{FFFD}"]
        {
            let analyzed = analyze(text);
            let total: u32 = analyzed.terms().map(|(_, frequency)| frequency).sum();
            assert_eq!(total, analyzed.length());
        }
        assert!(analyze("").is_empty());
    }

    #[test]
    fn keeps_a_bounded_number_of_different_terms() {
        let text: String =
            (0..MAX_DOCUMENT_TERMS + 10).map(|number| format!("{number} ")).collect();
        let analyzed = analyze(&text);
        assert_eq!(analyzed.distinct(), MAX_DOCUMENT_TERMS);
        assert_eq!(usize::try_from(analyzed.length()), Ok(MAX_DOCUMENT_TERMS + 10));
    }
}
