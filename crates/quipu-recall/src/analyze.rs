//! Owns what one text contributes to the index: its distinct terms, how often each occurs, its length,
//! its vectors, whether it lays down a rule.
//! Knows no ordinal and no index, so that it can run before any lock is taken.

use crate::{
    embed::{builtin, embedding::Embedding},
    limits::MAX_DOCUMENT_TERMS,
    text::standing::lays_down_a_rule,
    text::words::{for_each_word, packed},
};

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

    pub const fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// Whether the text lays down a rule that holds from then on.
    pub const fn is_rule(&self) -> bool {
        self.is_rule
    }

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
    let mut words = Words::with_room_for(text.len() + around.len());
    for part in [text, around] {
        for_each_word(part, |_, term| words.push(term));
    }
    let length = u32::try_from(words.spans.len()).unwrap_or(u32::MAX);
    let distinct = words.distinct();
    let term = |distinct: &Distinct| words.term(&distinct.first);
    let mut analyzed = Analyzed {
        text: String::with_capacity(distinct.iter().map(|one| term(one).len()).sum()),
        entries: Vec::with_capacity(distinct.len()),
        length,
        embedding: Embedding::new([builtin().vector(text).as_slice()]),
        is_rule: lays_down_a_rule(text),
    };
    for one in &distinct {
        analyzed.text.push_str(term(one));
        analyzed.entries.push(Entry { end: analyzed.text.len(), frequency: one.frequency });
    }
    analyzed
}

/// Bytes of a word and what parts it from the next, about: how much room is made for them.
const WORD_BYTES: usize = 6;

/// Every term of a text in its order, in one string.
#[derive(Debug)]
struct Words {
    text: String,
    spans: Vec<Span>,
}

/// Where a term is, and how it begins: that decides almost every comparison.
#[derive(Debug, Clone, Copy)]
struct Span {
    begins: u64,
    start: usize,
    end: usize,
}

/// A term where it stands first, and how often it stands.
#[derive(Debug)]
struct Distinct {
    first: Span,
    frequency: u32,
}

impl Words {
    fn with_room_for(bytes: usize) -> Self {
        let (text, spans) = (String::with_capacity(bytes), Vec::with_capacity(bytes / WORD_BYTES));
        Self { text, spans }
    }

    fn push(&mut self, term: &str) {
        let start = self.text.len();
        self.text.push_str(term);
        let begins = packed(term.as_bytes());
        self.spans.push(Span { begins, start, end: self.text.len() });
    }

    fn term(&self, span: &Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// Each term once, in ascending order: those that stood first, where there are too many.
    fn distinct(&mut self) -> Vec<Distinct> {
        let mut spans = std::mem::take(&mut self.spans);
        let by_term = |a: &Span, b: &Span| {
            a.begins.cmp(&b.begins).then_with(|| self.term(a).cmp(self.term(b)))
        };
        spans.sort_unstable_by(|a, b| by_term(a, b).then_with(|| a.start.cmp(&b.start)));
        let same = |a: &Span, b: &Span| by_term(a, b).is_eq();
        let mut distinct: Vec<Distinct> = spans
            .chunk_by(same)
            .filter_map(|spans| {
                let frequency = u32::try_from(spans.len()).unwrap_or(u32::MAX);
                spans.first().map(|first| Distinct { first: *first, frequency })
            })
            .collect();
        if distinct.len() > MAX_DOCUMENT_TERMS {
            let mut starts: Vec<usize> = distinct.iter().map(|one| one.first.start).collect();
            let (_, last, _) = starts.select_nth_unstable(MAX_DOCUMENT_TERMS - 1);
            distinct.retain(|one| one.first.start <= *last);
        }
        distinct
    }
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
