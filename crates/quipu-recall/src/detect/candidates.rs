//! What to hold a text against: the documents that share its rarest words or lie nearest in meaning.

use super::{never::never, sentences::sentences, statement::Statement};
use crate::{Index, Query, Seen, embed::builtin, index::around::Alone};

/// What the index is asked for a text.
#[derive(Debug, Clone, Default)]
pub struct Probe {
    /// The whole text, and apart what it says never was.
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    query: Query,
    vector: Vec<f32>,
    /// Whether only documents of the same author can answer it.
    own: bool,
}

#[expect(missing_debug_implementations, reason = "it holds two borrowed closures")]
pub struct Sieve<'a> {
    /// Whether a document may be one at all.
    pub accept: &'a dyn Fn(u32) -> bool,
    /// Whether a document is by the author of the text.
    pub own: &'a dyn Fn(u32) -> bool,
    /// What the author sees: how rare a word is, is counted there.
    pub seen: &'a Seen,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub document: u32,
    /// How near it is by words and by meaning, from 0 to 1.
    pub closeness: f32,
}

impl Probe {
    /// A probe for a text as a whole.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self { parts: vec![Part::new(text, false)] }
    }
}

impl Part {
    fn new(text: &str, own: bool) -> Self {
        Self { query: Query::new(&[(text, 1.0)]), vector: builtin().vector(text), own }
    }
}

/// What to ask for a text; nothing where it states nothing.
pub(super) fn probe(content: &str) -> Option<Probe> {
    let sentences = sentences(content);
    if sentences.is_empty() {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    for sentence in sentences.iter().filter(|sentence| sentence.contains("never")) {
        let statement = Statement::new(sentence);
        if let Some(never) = never(&statement) {
            parts.push(Part::new(&never.text(), never.first_person));
        }
    }
    parts.truncate(2);
    parts.push(Part::new(&sentences.join(" "), false));
    parts.retain(|part| !part.query.is_empty());
    (!parts.is_empty()).then_some(Probe { parts })
}

/// The best documents of each part, best first, none twice.
pub(super) fn candidates(
    index: &Index,
    probe: &Probe,
    limit: usize,
    sieve: &Sieve<'_>,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for part in &probe.parts {
        let accept = |document| (sieve.accept)(document) && (!part.own || (sieve.own)(document));
        let accept: &dyn Fn(u32) -> bool = &accept;
        let search = index.lexical().search(&part.query, sieve.seen);
        let most = search.most().max(f32::MIN_POSITIVE);
        let vectors = index.vectors();
        let meaning = vectors.probe(&part.vector);
        let mut hits: Vec<u32> = search.best(limit, accept).iter().map(|hit| hit.ordinal).collect();
        if let Some(meaning) = &meaning {
            hits.extend(vectors.nearest(meaning, limit, accept).iter().map(|hit| hit.ordinal));
        }
        let scores = search.scores(&hits, &Alone);
        for (document, score) in hits.into_iter().zip(scores) {
            let words = (score / most).clamp(0.0, 1.0);
            let meaning = meaning.as_ref().and_then(|probe| vectors.similarity(probe, document));
            let closeness = words.midpoint(meaning.unwrap_or(0.0).clamp(0.0, 1.0));
            match found.iter_mut().find(|known| known.document == document) {
                Some(known) => known.closeness = known.closeness.max(closeness),
                None => found.push(Candidate { document, closeness }),
            }
        }
    }
    found.sort_by(|a, b| {
        b.closeness.total_cmp(&a.closeness).then_with(|| b.document.cmp(&a.document))
    });
    found.truncate(limit);
    found
}
