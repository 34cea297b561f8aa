//! Owns the inverted index: which documents share words with a query, by BM25.
//! Hand-written because it must forget a document's words at once, answer for a document the moment
//! it is inserted, and load in one pass; a search engine crate does none of these without a commit.
//! Owns neither texts nor authors, and not the file format (`stored` does).

use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::analyze::Analyzed;
use crate::limits::{MAX_NAMED_WORDS, MAX_SCORED_TERMS};
use crate::postings::{Posting, Postings};
use crate::query::{Query, QueryTerm};

/// How fast further occurrences of a term stop counting.
const K1: f32 = 0.9;
/// How much a long document is held back.
const B: f32 = 0.4;
/// Stands in `lengths` for an ordinal that has no document.
pub(crate) const ABSENT: u32 = u32::MAX;

/// The words of all documents of one collection.
///
/// Ordinals should be dense: memory grows with the highest one.
#[derive(Debug, Clone, Default)]
pub struct Lexical {
    pub(crate) dictionary: HashMap<Box<str>, u32>,
    pub(crate) postings: Vec<Postings>,
    pub(crate) lengths: Vec<u32>,
    pub(crate) documents: u32,
    pub(crate) total_length: u64,
    /// Places in `postings` whose term was removed.
    free: Vec<u32>,
}

/// A document that matches, and how well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The document.
    pub ordinal: u32,
    /// BM25, not normalised: only comparable within one query.
    pub score: f32,
}

/// The BM25 scores of one query for every document, made by [`Lexical::scores`].
#[derive(Debug, Clone)]
pub struct Scores {
    by_ordinal: Vec<f32>,
    matching: Vec<u32>,
}

impl Lexical {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        usize::try_from(self.documents).unwrap_or(usize::MAX)
    }

    /// Whether there is no document.
    pub const fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Adds a document; `false`, and no change, where the ordinal is taken or is `u32::MAX`.
    ///
    /// With an ordinal above all others this is a few pushed bytes per term. Filling the place of
    /// a removed document rewrites the lists of its terms.
    pub fn insert(&mut self, ordinal: u32, doc: &Analyzed) -> bool {
        if ordinal == ABSENT || self.has(ordinal) {
            return false;
        }
        let at = slot(ordinal);
        if at >= self.lengths.len() {
            self.lengths.resize(at + 1, ABSENT);
        }
        let length = doc.length().min(ABSENT - 1);
        self.lengths[at] = length;
        self.documents += 1;
        self.total_length += u64::from(length);
        for (term, frequency) in doc.terms() {
            self.list_mut(term).insert(Posting { ordinal, frequency });
        }
        true
    }

    /// Takes a document out; `false`, and no change, where the ordinal has none.
    ///
    /// `doc` must be what was inserted. A term that only this document had is forgotten.
    pub fn remove(&mut self, ordinal: u32, doc: &Analyzed) -> bool {
        let Some(length) = self.length_of(ordinal) else { return false };
        self.lengths[slot(ordinal)] = ABSENT;
        self.documents -= 1;
        self.total_length -= u64::from(length);
        for (term, _) in doc.terms() {
            let Some(&id) = self.dictionary.get(term) else { continue };
            let list = &mut self.postings[slot(id)];
            if list.remove(ordinal) && list.count() == 0 {
                self.postings[slot(id)] = Postings::default();
                self.dictionary.remove(term);
                self.free.push(id);
            }
        }
        true
    }

    /// Takes documents out whose text is not known any more, and with them every term that only they
    /// had. Reads all lists once, however many documents there are.
    pub fn forget(&mut self, ordinals: &BTreeSet<u32>) {
        for &ordinal in ordinals {
            if let Some(length) = self.length_of(ordinal) {
                self.lengths[slot(ordinal)] = ABSENT;
                self.documents -= 1;
                self.total_length -= u64::from(length);
            }
        }
        let mut emptied = BTreeSet::new();
        for (id, list) in (0_u32..).zip(&mut self.postings) {
            if list.forget(ordinals) && list.count() == 0 {
                *list = Postings::default();
                emptied.insert(id);
            }
        }
        self.dictionary.retain(|_, id| !emptied.contains(id));
        self.free.extend(emptied);
    }

    /// Whether any document has the term of `word`, which is not stemmed or folded first.
    pub fn knows_term(&self, word: &str) -> bool {
        self.dictionary.contains_key(word)
    }

    /// Scores every document against `query`, in one pass over the lists of its terms.
    pub fn scores(&self, query: &Query) -> Scores {
        let terms = self.scored_terms(query);
        // Without a known term nothing matches, and there is no need for a place per document.
        let places = if terms.is_empty() { 0 } else { self.lengths.len() };
        let mut scores = Scores { by_ordinal: vec![0.0; places], matching: Vec::new() };
        let average = self.average_length();
        for (_, list, weight) in terms {
            for Posting { ordinal, frequency } in list.iter() {
                let Some(length) = self.length_of(ordinal) else { continue };
                let score = &mut scores.by_ordinal[slot(ordinal)];
                if *score <= 0.0 {
                    scores.matching.push(ordinal);
                }
                *score += weight * saturation(frequency, length, average);
            }
        }
        scores
    }

    /// The `limit` best documents among those that `accept` lets through, best first, the higher
    /// ordinal first where scores are equal. Documents that share no word are not among them.
    pub fn search(&self, query: &Query, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<Hit> {
        self.scores(query).top(limit, accept)
    }

    /// The score of each of `ordinals`, 0 where it shares no word or there is no such document.
    pub fn score_all(&self, query: &Query, ordinals: &[u32]) -> Vec<f32> {
        let scores = self.scores(query);
        ordinals.iter().map(|ordinal| scores.of(*ordinal)).collect()
    }

    /// For each of `ordinals`, up to [`MAX_NAMED_WORDS`] words of the query that it shares, as the
    /// query wrote them, the most telling first.
    ///
    /// Takes all ordinals at once because each list is read once, however many are asked for.
    pub fn matched_terms<'q>(&self, query: &'q Query, ordinals: &[u32]) -> Vec<Vec<&'q str>> {
        let mut words = vec![Vec::new(); ordinals.len()];
        let mut wanted: Vec<(u32, usize)> =
            ordinals.iter().enumerate().map(|(at, ordinal)| (*ordinal, at)).collect();
        wanted.sort_unstable();
        for (term, list, _) in self.scored_terms(query) {
            let mut entries = list.iter().peekable();
            for &(ordinal, at) in &wanted {
                while entries.next_if(|entry| entry.ordinal < ordinal).is_some() {}
                let Some(entry) = entries.peek() else { break };
                if entry.ordinal == ordinal && words[at].len() < MAX_NAMED_WORDS {
                    words[at].push(&*term.surface);
                }
            }
        }
        words
    }

    /// Bytes held, within a few percent: what the collections have reserved.
    pub fn memory_bytes(&self) -> usize {
        let entry = size_of::<(Box<str>, u32)>() + 1;
        let terms: usize = self.dictionary.keys().map(|term| term.len()).sum();
        let lists: usize = self.postings.iter().map(Postings::heap_bytes).sum();
        size_of::<Self>()
            + self.dictionary.capacity() * entry
            + terms
            + self.postings.capacity() * size_of::<Postings>()
            + lists
            + (self.lengths.capacity() + self.free.capacity()) * size_of::<u32>()
    }

    /// The terms of the query that the index has, with their lists and their weight times rarity,
    /// heaviest first, at most [`MAX_SCORED_TERMS`]. The order is total, so sums are repeatable.
    fn scored_terms<'q>(&self, query: &'q Query) -> Vec<(&'q QueryTerm, &Postings, f32)> {
        let known = query.terms().iter().filter_map(|term| {
            let list = self.list(*self.dictionary.get(&term.term)?);
            Some((term, list, term.weight * self.rarity(list.count())))
        });
        let mut terms: Vec<_> = known.collect();
        terms.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.term.cmp(&b.0.term)));
        terms.truncate(MAX_SCORED_TERMS);
        terms
    }

    /// Inverse document frequency, always above zero.
    fn rarity(&self, documents_with_term: u32) -> f32 {
        let without = self.documents.saturating_sub(documents_with_term) as f32;
        ((without + 0.5) / (documents_with_term as f32 + 0.5)).ln_1p()
    }

    fn average_length(&self) -> f32 {
        (self.total_length as f32 / self.documents.max(1) as f32).max(1.0)
    }

    fn length_of(&self, ordinal: u32) -> Option<u32> {
        self.lengths.get(slot(ordinal)).copied().filter(|length| *length != ABSENT)
    }

    /// The documents of the term with this id.
    pub(crate) fn list(&self, id: u32) -> &Postings {
        &self.postings[slot(id)]
    }

    /// Whether the ordinal has a document.
    pub(crate) fn has(&self, ordinal: u32) -> bool {
        self.length_of(ordinal).is_some()
    }

    fn list_mut(&mut self, term: &str) -> &mut Postings {
        let id = self.dictionary.get(term).copied().unwrap_or_else(|| {
            let id = self.free.pop().unwrap_or_else(|| {
                self.postings.push(Postings::default());
                // A term costs far more than one byte, so memory ends long before ids do.
                u32::try_from(self.postings.len() - 1).unwrap_or(u32::MAX)
            });
            self.dictionary.insert(Box::from(term), id);
            id
        });
        &mut self.postings[slot(id)]
    }
}

impl Scores {
    /// The score of one document, 0 where it shares no word with the query.
    pub fn of(&self, ordinal: u32) -> f32 {
        self.by_ordinal.get(slot(ordinal)).copied().unwrap_or(0.0)
    }

    /// How many documents share a word with the query.
    pub fn matching(&self) -> usize {
        self.matching.len()
    }

    /// As [`Lexical::search`]. `accept` is only asked about documents good enough to be among the
    /// best so far.
    pub fn top(&self, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<Hit> {
        let mut best: BinaryHeap<Worst> = BinaryHeap::new();
        if limit == 0 {
            return Vec::new();
        }
        for &ordinal in &self.matching {
            let hit = Worst(Hit { ordinal, score: self.of(ordinal) });
            let full = best.len() >= limit;
            if full && best.peek().is_some_and(|worst| hit >= *worst) || !accept(ordinal) {
                continue;
            }
            if full {
                best.pop();
            }
            best.push(hit);
        }
        best.into_sorted_vec().into_iter().map(|Worst(hit)| hit).collect()
    }
}

/// A hit that is greater the worse it is, so that the heap's greatest is the one to drop.
#[derive(Debug)]
struct Worst(Hit);

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_score = other.0.score.total_cmp(&self.0.score);
        by_score.then_with(|| other.0.ordinal.cmp(&self.0.ordinal))
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Worst {}

/// How much an occurrence count says, from 0 to 1, less in a document longer than the average.
fn saturation(frequency: u32, length: u32, average: f32) -> f32 {
    let frequency = frequency as f32;
    frequency / (frequency + K1 * (1.0 - B + B * length as f32 / average))
}

/// An ordinal or id as a place in a vector. Every supported target has at least 32-bit pointers.
pub(crate) fn slot(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
