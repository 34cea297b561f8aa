//! Owns the inverted index: which documents have which terms, and how many. `word_search` reads it.
//! Hand-written because it must forget a document's words at once, answer for a document the moment
//! it is inserted, and load in one pass; a search engine crate does none of these without a commit.
//! Owns neither texts nor authors, and not the file format (`stored` does).

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use crate::{
    analyze::Analyzed,
    index::{postings::Postings, seen::Seen, word_search::WordSearch},
    rank::query::Query,
};

/// Stands in `lengths` for an ordinal that has no document.
pub(crate) const ABSENT: u32 = u32::MAX;
/// Stands in `brief` for a length from here on, and for none.
pub(crate) const LONG: u8 = u8::MAX;

/// What an `Arc` keeps beside a text.
const SHARED_BYTES: usize = 2 * size_of::<usize>();

/// The words of all documents of one collection.
///
/// Ordinals should be dense: memory grows with the highest one.
#[derive(Debug, Clone, Default)]
pub struct Lexical {
    dictionary: HashMap<Arc<str>, u32>,
    /// By id: the term, empty where it was removed.
    terms: Vec<Arc<str>>,
    /// By id: its documents.
    postings: Vec<Postings>,
    lengths: Vec<u32>,
    /// The same in a byte each, [`LONG`] for what does not fit: whoever reads a long list asks for the length of
    /// every document in it, and a quarter of the memory is on its way a quarter as long.
    brief: Vec<u8>,
    counts: Counts,
    /// The ids of terms that were removed.
    free: Vec<u32>,
}

/// A document that matches, and how well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub ordinal: u32,
    /// Only comparable within one query.
    pub score: f32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) documents: u32,
    /// The sum of the logarithms of their lengths, in millionths: whole numbers, so that the order of
    /// insertions and removals leaves no trace.
    log_length: u64,
}

impl Lexical {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn len(&self) -> usize {
        slot(self.counts.documents)
    }

    pub const fn is_empty(&self) -> bool {
        self.counts.documents == 0
    }

    /// Adds a document; `false`, and no change, where the ordinal is taken or is `u32::MAX`.
    ///
    /// With an ordinal above all others this is a few pushed bytes per term. Filling the place of
    /// a removed document rewrites the lists of its terms.
    pub fn insert(&mut self, ordinal: u32, doc: &Analyzed) -> bool {
        if ordinal == ABSENT || self.has(ordinal) {
            return false;
        }
        self.place(ordinal, u32::try_from(doc.distinct()).unwrap_or(ABSENT - 1));
        for (term, _) in doc.terms() {
            self.list_mut(term).insert(ordinal);
        }
        true
    }

    /// Takes a document out; `false`, and no change, where the ordinal has none.
    ///
    /// `doc` must be what was inserted. A term that only this document had is forgotten.
    pub fn remove(&mut self, ordinal: u32, doc: &Analyzed) -> bool {
        let Some(length) = self.length_of(ordinal) else { return false };
        self.set_length(ordinal, ABSENT);
        self.counts.subtract(length);
        for (term, _) in doc.terms() {
            let Some(&id) = self.dictionary.get(term) else { continue };
            let list = &mut self.postings[slot(id)];
            if list.remove(ordinal) && list.count() == 0 {
                self.remove_term(id);
            }
        }
        true
    }

    /// Takes documents out whose text is not known any more, and with them every term that only they
    /// had. Reads all lists once, however many documents there are.
    pub fn forget(&mut self, ordinals: &BTreeSet<u32>) {
        for &ordinal in ordinals {
            if let Some(length) = self.length_of(ordinal) {
                self.set_length(ordinal, ABSENT);
                self.counts.subtract(length);
            }
        }
        let mut emptied = Vec::new();
        for (id, list) in (0_u32..).zip(&mut self.postings) {
            if list.forget(ordinals) && list.count() == 0 {
                emptied.push(id);
            }
        }
        emptied.into_iter().for_each(|id| self.remove_term(id));
    }

    /// Whether any document has the term of `word`, which is not stemmed or folded first.
    pub fn knows_term(&self, word: &str) -> bool {
        self.dictionary.contains_key(word)
    }

    /// Prepares the search for a query among the documents that a reader sees.
    pub fn search<'i, 'q>(&'i self, query: &'q Query, seen: &'i Seen) -> WordSearch<'i, 'q> {
        WordSearch::new(self, query, seen)
    }

    /// The documents that are seen and have every word of the query, the lowest ordinal first; none where the
    /// query has no words.
    pub fn having_all(&self, query: &Query, seen: &Seen) -> Vec<u32> {
        let lists = query.terms().iter().map(|asked| self.find(&asked.term));
        let Some(mut lists) = lists.collect::<Option<Vec<_>>>() else { return Vec::new() };
        lists.sort_by_key(|list| list.count());
        let mut lists = lists.into_iter();
        let Some(rarest) = lists.next() else { return Vec::new() };
        let mut found: Vec<u32> = rarest.iter().filter(|ordinal| seen.has(*ordinal)).collect();
        for list in lists {
            let mut kept = Vec::new();
            list.for_each_of(&found, |place| kept.push(place));
            found = kept.into_iter().filter_map(|place| found.get(place).copied()).collect();
        }
        found
    }

    /// Bytes held, within a few percent: what the collections have reserved.
    pub fn memory_bytes(&self) -> usize {
        let entry = size_of::<(Arc<str>, u32)>() + 1;
        // With what counts who shares it.
        let terms: usize = self.terms.iter().map(|term| term.len() + SHARED_BYTES).sum();
        let lists: usize = self.postings.iter().map(Postings::heap_bytes).sum();
        size_of::<Self>()
            + self.dictionary.capacity() * entry
            + terms
            + self.terms.capacity() * size_of::<Arc<str>>()
            + self.postings.capacity() * size_of::<Postings>()
            + lists
            + (self.lengths.capacity() + self.free.capacity()) * size_of::<u32>()
            + self.brief.capacity()
    }

    pub(crate) fn find(&self, term: &str) -> Option<&Postings> {
        self.dictionary.get(term).map(|id| self.list(*id))
    }

    /// How many of the documents are seen, and how long those are.
    pub(crate) fn counts(&self, seen: &Seen) -> Counts {
        if seen.is_all() {
            return self.counts;
        }
        let mut counts = Counts::default();
        let seen = (0_u32..).zip(&self.lengths).filter(|(ordinal, _)| seen.has(*ordinal));
        seen.filter(|(_, length)| **length != ABSENT).for_each(|(_, length)| counts.add(*length));
        counts
    }

    /// One more than the highest ordinal that ever had a document.
    pub(crate) const fn ordinals(&self) -> usize {
        self.lengths.len()
    }

    pub(crate) fn set_lengths(&mut self, lengths: Vec<u32>) {
        self.counts = Counts::default();
        lengths.iter().filter(|length| **length != ABSENT).for_each(|l| self.counts.add(*l));
        self.brief = lengths.iter().map(|length| brief(*length)).collect();
        self.lengths = lengths;
    }

    /// The lengths of all documents by ordinal, [`ABSENT`] where there is none.
    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// How many different terms a document has, if it is a document and they are fewer than [`LONG`].
    pub(crate) fn brief_length_of(&self, ordinal: u32) -> Option<u8> {
        self.brief.get(slot(ordinal)).copied().filter(|length| *length != LONG)
    }

    /// Makes a place for a document that has so many different terms, or for none where that is [`ABSENT`].
    pub(crate) fn place(&mut self, ordinal: u32, length: u32) {
        let at = slot(ordinal);
        if at >= self.lengths.len() {
            self.lengths.resize(at + 1, ABSENT);
            self.brief.resize(at + 1, LONG);
        }
        self.set_length(ordinal, length);
        if length != ABSENT {
            self.counts.add(length);
        }
    }

    fn set_length(&mut self, ordinal: u32, length: u32) {
        self.lengths[slot(ordinal)] = length;
        self.brief[slot(ordinal)] = brief(length);
    }

    /// How many different terms a document has.
    pub(crate) fn length_of(&self, ordinal: u32) -> Option<u32> {
        self.lengths.get(slot(ordinal)).copied().filter(|length| *length != ABSENT)
    }

    pub(crate) fn list(&self, id: u32) -> &Postings {
        &self.postings[slot(id)]
    }

    /// Whether the ordinal has a document.
    pub(crate) fn has(&self, ordinal: u32) -> bool {
        self.length_of(ordinal).is_some()
    }

    /// The documents of a term, which is known from then on.
    pub(crate) fn list_mut(&mut self, term: &str) -> &mut Postings {
        let id = self.dictionary.get(term).copied().unwrap_or_else(|| self.add_term(term));
        &mut self.postings[slot(id)]
    }

    pub(crate) fn reserve_terms(&mut self, terms: usize) {
        self.dictionary.reserve(terms);
        self.terms.reserve(terms);
        self.postings.reserve(terms);
    }

    pub(crate) const fn ids(&self) -> usize {
        self.terms.len()
    }

    /// The term with this id, empty where it was removed.
    pub(crate) fn term(&self, id: u32) -> &str {
        &self.terms[slot(id)]
    }

    fn add_term(&mut self, term: &str) -> u32 {
        let term: Arc<str> = Arc::from(term);
        let id = if let Some(id) = self.free.pop() {
            self.terms[slot(id)] = Arc::clone(&term);
            id
        } else {
            self.terms.push(Arc::clone(&term));
            self.postings.push(Postings::default());
            // A term costs far more than one byte, so memory ends long before ids do.
            u32::try_from(self.terms.len() - 1).unwrap_or(u32::MAX)
        };
        self.dictionary.insert(term, id);
        id
    }

    fn remove_term(&mut self, id: u32) {
        self.postings[slot(id)] = Postings::default();
        let term = std::mem::take(&mut self.terms[slot(id)]);
        self.dictionary.remove(&term);
        self.free.push(id);
    }
}

impl Counts {
    fn add(&mut self, length: u32) {
        self.documents += 1;
        self.log_length += log_millionths(length);
    }

    fn subtract(&mut self, length: u32) {
        self.documents -= 1;
        self.log_length -= log_millionths(length);
    }

    /// The geometric mean of the lengths: a few huge documents do not move it far.
    pub(crate) fn pivot(self) -> f32 {
        let mean = self.log_length as f64 / 1e6 / f64::from(self.documents.max(1));
        narrow(mean.exp()).max(1.0)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a logarithm of a 32-bit number is small and not negative"
)]
fn log_millionths(length: u32) -> u64 {
    (f64::from(length.max(1)).ln() * 1e6).round() as u64
}

fn brief(length: u32) -> u8 {
    u8::try_from(length).unwrap_or(LONG)
}

#[expect(clippy::cast_possible_truncation, reason = "a length needs no more digits")]
const fn narrow(value: f64) -> f32 {
    value as f32
}

/// An ordinal or id as a place in a vector. Every supported target has at least 32-bit pointers.
pub(crate) fn slot(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
