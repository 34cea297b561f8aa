//! Owns one look of one reader at the words: which terms of its query count how much to it, which
//! documents share them, and which stand beside documents that do.
//! All statistics are over what the reader sees.

use std::collections::BinaryHeap;

use crate::lexical::{Hit, Lexical, slot};
use crate::limits::{MAX_NAMED_WORDS, MAX_POSTINGS_READ, MAX_SCORED_TERMS};
use crate::postings::Postings;
use crate::query::{Query, QueryTerm};
use crate::seen::Seen;

/// How fast a match stops counting more.
const K1: f32 = 0.9;
/// How much a long document is held back.
const B: f32 = 0.4;
/// How many neighbours on each side lend their words.
pub const REACH: usize = 3;
/// What a word is worth one document further before or after the one that is scored. What was said
/// before tells more about a text than what follows it.
const DECAY_BEFORE: f32 = 0.75;
const DECAY_AFTER: f32 = 0.6;

/// Says what stands before and after a document, such as in a conversation.
pub trait Neighbours {
    /// The document before, if there is one and it is seen.
    fn before(&self, ordinal: u32) -> Option<u32>;
    /// The document after, likewise.
    fn after(&self, ordinal: u32) -> Option<u32>;
    /// What the words of neighbours are worth to a document, beside what their distance leaves of them.
    fn share(&self, _ordinal: u32) -> f32 {
        1.0
    }
}

/// For documents that stand alone.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Neighbours for Alone {
    fn before(&self, _ordinal: u32) -> Option<u32> {
        None
    }

    fn after(&self, _ordinal: u32) -> Option<u32> {
        None
    }
}

/// A query as one reader sees it.
#[derive(Debug)]
pub struct Look<'i, 'q> {
    lexical: &'i Lexical,
    seen: &'i Seen,
    terms: Vec<Term<'i, 'q>>,
    /// The length at which a document is neither held back nor favoured.
    pivot: f32,
    known: f32,
}

#[derive(Debug)]
struct Term<'i, 'q> {
    asked: &'q QueryTerm,
    list: &'i Postings,
    /// Its weight in the query times its rarity.
    worth: f32,
    /// How many documents that are seen have it.
    with: u32,
}

impl<'i, 'q> Look<'i, 'q> {
    pub(crate) fn new(lexical: &'i Lexical, query: &'q Query, seen: &'i Seen) -> Self {
        let counts = lexical.counts(seen);
        let (mut terms, mut all, mut known) = (Vec::new(), 0.0, 0.0);
        for asked in query.terms() {
            let list = lexical.find(&asked.term);
            let with = list.map_or(0, |list| list.count_seen(seen));
            let worth = asked.weight * rarity(counts.documents, with);
            all += worth;
            if let Some(list) = list.filter(|_| with > 0) {
                known += worth;
                terms.push(Term { asked, list, worth, with });
            }
        }
        terms.sort_by(|a, b| {
            b.worth.total_cmp(&a.worth).then_with(|| a.asked.term.cmp(&b.asked.term))
        });
        terms.truncate(MAX_SCORED_TERMS);
        let known = if all > 0.0 { known / all } else { 0.0 };
        Self { lexical, seen, terms, pivot: counts.pivot(), known }
    }

    /// Whether no document that is seen shares a word with the query.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How much of what the query asks for, rare words counting more, the reader's documents have
    /// ever said: from 0 to 1.
    pub const fn known(&self) -> f32 {
        self.known
    }

    /// What a document that has every term of the query would score, at most.
    pub fn most(&self) -> f32 {
        self.terms.iter().map(|term| term.worth).sum()
    }

    /// The `limit` best documents by their own words among those that are seen and that `accept` lets
    /// through, best first, the higher ordinal first where scores are equal.
    ///
    /// Rare words come first. Once [`MAX_POSTINGS_READ`] entries were read, words that most documents
    /// have are not looked at any more; such a word alone makes no document one of the best.
    pub fn best(&self, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<Hit> {
        let places = if self.terms.is_empty() { 0 } else { self.lexical.ordinals() };
        let mut scores = vec![0.0_f32; places];
        let mut matching = Vec::new();
        let mut left = MAX_POSTINGS_READ;
        for (place, term) in self.terms.iter().enumerate() {
            if place > 0 && term.with > left {
                break;
            }
            left = left.saturating_sub(term.with);
            for ordinal in term.list.iter() {
                let Some(score) = scores.get_mut(slot(ordinal)) else { continue };
                if *score <= 0.0 {
                    matching.push(ordinal);
                }
                *score += term.worth * self.saturation(ordinal);
            }
        }
        let hits = matching.into_iter().map(|at| Hit { ordinal: at, score: scores[slot(at)] });
        top(hits, limit, &|ordinal| self.seen.has(ordinal) && accept(ordinal))
    }

    /// The score of each of `ordinals` by its own words and those of up to [`REACH`] neighbours on
    /// each side: each word counts once, where it is worth most.
    pub fn scores(&self, ordinals: &[u32], neighbours: &dyn Neighbours) -> Vec<f32> {
        let mut total = vec![0.0; ordinals.len()];
        if self.terms.is_empty() {
            return total;
        }
        let mut near: Vec<(u32, f32)> = Vec::with_capacity(ordinals.len() * (2 * REACH + 1));
        let mut ends = Vec::with_capacity(ordinals.len());
        for ordinal in ordinals {
            surroundings(*ordinal, neighbours, &mut near);
            ends.push(near.len());
        }
        let mut involved: Vec<u32> = near.iter().map(|(at, _)| *at).collect();
        involved.sort_unstable();
        involved.dedup();
        // A place for every ordinal: a search for each neighbour would cost more than all the rest.
        let mut places = vec![u32::MAX; self.lexical.ordinals()];
        for (place, at) in (0_u32..).zip(&involved) {
            if let Some(known) = places.get_mut(slot(*at)) {
                *known = place;
            }
        }
        for (at, _) in &mut near {
            *at = places.get(slot(*at)).copied().unwrap_or(u32::MAX);
        }
        let mut own = vec![0.0_f32; involved.len()];
        for term in &self.terms {
            self.own_scores(term, &involved, &mut own);
            let worth =
                |(at, share): &(u32, f32)| own.get(slot(*at)).map_or(0.0, |own| own * share);
            let mut start = 0;
            for (total, end) in total.iter_mut().zip(&ends) {
                let best = near[start..*end].iter().map(worth).fold(0.0, f32::max);
                *total += best;
                start = *end;
            }
        }
        total
    }

    /// For each of `ordinals`, up to [`MAX_NAMED_WORDS`] words of the query that it has itself, as the
    /// query wrote them, the most telling first.
    pub fn shared_words(&self, ordinals: &[u32]) -> Vec<Vec<&'q str>> {
        let mut words = vec![Vec::new(); ordinals.len()];
        let mut wanted: Vec<(u32, usize)> =
            ordinals.iter().enumerate().map(|(at, ordinal)| (*ordinal, at)).collect();
        wanted.sort_unstable();
        let sorted: Vec<u32> = wanted.iter().map(|(ordinal, _)| *ordinal).collect();
        for term in &self.terms {
            term.list.for_each_of(&sorted, |place| {
                let words = &mut words[wanted[place].1];
                if words.len() < MAX_NAMED_WORDS {
                    words.push(&*term.asked.surface);
                }
            });
        }
        words
    }

    /// What one term is worth in each of `ordinals`, which are in ascending order.
    fn own_scores(&self, term: &Term<'_, '_>, ordinals: &[u32], own: &mut [f32]) {
        own.fill(0.0);
        term.list.for_each_of(ordinals, |place| {
            own[place] = term.worth * self.saturation(ordinals[place]);
        });
    }

    /// What the presence of a word says, less in a document that is longer than most.
    fn saturation(&self, ordinal: u32) -> f32 {
        let length = self.lexical.length_of(ordinal).unwrap_or(0) as f32;
        1.0 / (1.0 + K1 * (1.0 - B + B * length / self.pivot))
    }
}

/// Adds the documents around one, itself first, with the share that their words count.
fn surroundings(ordinal: u32, neighbours: &dyn Neighbours, near: &mut Vec<(u32, f32)>) {
    near.push((ordinal, 1.0));
    let (mut before, mut after) = (Some(ordinal), Some(ordinal));
    let whole = neighbours.share(ordinal);
    let mut share = (whole, whole);
    for _ in 0..REACH {
        share = (share.0 * DECAY_BEFORE, share.1 * DECAY_AFTER);
        before = before.and_then(|at| neighbours.before(at));
        after = after.and_then(|at| neighbours.after(at));
        near.extend(before.map(|at| (at, share.0)));
        near.extend(after.map(|at| (at, share.1)));
    }
}

/// Inverse document frequency, always above zero.
fn rarity(documents: u32, with_term: u32) -> f32 {
    let without = documents.saturating_sub(with_term) as f32;
    ((without + 0.5) / (with_term as f32 + 0.5)).ln_1p()
}

/// The best of `hits`. `accept` is only asked about those good enough to be among the best so far.
fn top(hits: impl Iterator<Item = Hit>, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<Hit> {
    let mut best: BinaryHeap<Worst> = BinaryHeap::new();
    if limit == 0 {
        return Vec::new();
    }
    for hit in hits {
        let (ordinal, hit) = (hit.ordinal, Worst(hit));
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
