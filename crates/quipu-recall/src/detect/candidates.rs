//! What to hold a text against: the documents that share its rarest words.

use super::{never::never, sentences::sentences, statement::Statement};
use crate::{Index, Query};

/// What the index is asked for a text.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    /// The whole text, and apart what it says never was.
    pub(super) queries: Vec<Query>,
}

/// A document that may disagree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Which one.
    pub document: u32,
    /// The share of the probe's rare words that it has, from 0 to 1.
    pub closeness: f32,
}

impl Probe {
    /// A probe by words alone.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self { queries: vec![Query::new(&[(text, 1.0)])] }
    }
}

/// What to ask for a text; nothing where it states nothing.
pub(super) fn probe(content: &str) -> Option<Probe> {
    let sentences = sentences(content);
    if sentences.is_empty() {
        return None;
    }
    let mut queries: Vec<Query> = Vec::new();
    for sentence in sentences.iter().filter(|sentence| sentence.to_lowercase().contains("never")) {
        let statement = Statement::new(sentence);
        if let Some(never) = never(&statement) {
            let words: Vec<_> = never.topics.iter().map(|topic| topic.surface.as_str()).collect();
            queries.push(Query::new(&[(&words.join(" "), 1.0)]));
        }
    }
    queries.truncate(2);
    queries.push(Query::new(&[(&sentences.join(" "), 1.0)]));
    queries.retain(|query| !query.is_empty());
    (!queries.is_empty()).then_some(Probe { queries })
}

/// The best documents of each query, best first, none twice.
pub(super) fn candidates(
    index: &Index,
    probe: &Probe,
    limit: usize,
    accept: &dyn Fn(u32) -> bool,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for query in &probe.queries {
        let most = index.most(query).max(f32::MIN_POSITIVE);
        for hit in index.search(query, limit, accept) {
            let closeness = (hit.score / most).clamp(0.0, 1.0);
            match found.iter_mut().find(|known| known.document == hit.ordinal) {
                Some(known) => known.closeness = known.closeness.max(closeness),
                None => found.push(Candidate { document: hit.ordinal, closeness }),
            }
        }
    }
    found.sort_by(|a, b| {
        b.closeness.total_cmp(&a.closeness).then_with(|| b.document.cmp(&a.document))
    });
    found.truncate(limit);
    found
}
