//! Owns one search of one reader by words: which terms of its query count how much to it, which
//! documents share them, and which stand beside documents that do.
//! All statistics are over what the reader sees.

use crate::{
    index::{
        around::{Around, Neighbours},
        bits::Bits,
        lexical::{Hit, LONG, Lexical, slot},
        postings::Postings,
        seen::Seen,
        top::top,
    },
    limits::{MAX_NAMED_WORDS, MAX_POSTINGS_READ, MAX_SCORED_TERMS},
    rank::query::{Query, QueryTerm},
};

/// How fast a match stops counting more.
const K1: f32 = 0.9;
/// How much a long document is held back.
const B: f32 = 0.4;
/// Lengths of documents for which the worth of a word is worked out once for all of them.
const USUAL_LENGTHS: u8 = LONG;

/// A list is read whole if it has at most so many times as many documents as are looked for in it.
const READ_WHOLE: usize = 16;

/// Terms whose worth is worked out side by side.
const TERMS_AT_ONCE: usize = 8;

/// A query as one reader sees it.
#[derive(Debug)]
pub struct WordSearch<'i, 'q> {
    lexical: &'i Lexical,
    seen: &'i Seen,
    terms: Vec<Term<'i, 'q>>,
    /// The length at which a document is neither held back nor favoured.
    pivot: f32,
    /// What a word is worth in a document of each of the usual lengths.
    by_length: Vec<f32>,
    covered: f32,
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

impl<'i, 'q> WordSearch<'i, 'q> {
    pub(crate) fn new(lexical: &'i Lexical, query: &'q Query, seen: &'i Seen) -> Self {
        let counts = lexical.counts(seen);
        let (mut terms, mut all, mut covered) = (Vec::new(), 0.0, 0.0);
        for asked in query.terms() {
            let list = lexical.find(&asked.term);
            let with = list.map_or(0, |list| list.count_seen(seen));
            let worth = asked.weight * rarity(counts.documents, with);
            all += worth;
            if let Some(list) = list.filter(|_| with > 0) {
                covered += worth;
                terms.push(Term { asked, list, worth, with });
            }
        }
        terms.sort_by(|a, b| {
            b.worth.total_cmp(&a.worth).then_with(|| a.asked.term.cmp(&b.asked.term))
        });
        terms.truncate(MAX_SCORED_TERMS);
        let covered = if all > 0.0 { covered / all } else { 0.0 };
        let pivot = counts.pivot();
        let lengths = if terms.is_empty() { 0 } else { USUAL_LENGTHS };
        let by_length = (0..lengths).map(|length| saturation(length.into(), pivot)).collect();
        Self { lexical, seen, terms, pivot, by_length, covered }
    }

    /// Whether no document that is seen shares a word with the query.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How much of what the query asks for, rare words counting more, the reader's documents have
    /// ever said: from 0 to 1.
    pub const fn covered(&self) -> f32 {
        self.covered
    }

    /// What a document that has every term of the query would score, at most.
    pub fn most(&self) -> f32 {
        self.terms.iter().map(|term| term.worth).sum()
    }

    /// The `limit` best documents by their own words among those that are seen and that `accept` lets
    /// through, best first, the higher ordinal first where scores are equal.
    ///
    /// Rare words come first. As soon as no other document can be among the best any more, the words that
    /// are left are only looked up in those that can. Once [`MAX_POSTINGS_READ`] entries were read, words
    /// that most documents have are not looked at any more; such a word alone makes no document one of
    /// the best.
    pub fn best(&self, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<Hit> {
        let accept = |ordinal: u32| self.seen.has(ordinal) && accept(ordinal);
        let places = if self.terms.is_empty() { 0 } else { self.lexical.ordinals() };
        let mut sums = Sums { scores: vec![0.0; places], matching: Vec::new(), highest: 0.0 };
        let mut left = MAX_POSTINGS_READ;
        for (place, term) in self.terms.iter().enumerate() {
            if place > 0 && term.with > left {
                break;
            }
            left = left.saturating_sub(term.with);
            for ordinal in term.list.iter() {
                sums.add(ordinal, term.worth * self.saturation(ordinal));
            }
            let rest = self.terms.get(place + 1..).unwrap_or_default();
            if sums.narrow(limit, self.most_of(rest), &accept) {
                self.finish(rest, &mut sums);
                break;
            }
        }
        top(sums.above(0.0), limit, &accept)
    }

    /// Adds what further terms are worth in the documents that were found.
    fn finish(&self, terms: &[Term<'_, '_>], sums: &mut Sums) {
        let found = Bits::new(self.lexical.ordinals(), sums.matching.iter().copied());
        let in_order: Vec<u32> = found.iter().collect();
        for term in terms {
            let mut add = |ordinal: u32| sums.add(ordinal, term.worth * self.saturation(ordinal));
            if let Some(bits) = term.list.bits() {
                found.common(bits).for_each(add);
            } else if is_read_whole(term.list, in_order.len()) {
                term.list.iter().filter(|ordinal| found.has(*ordinal)).for_each(add);
            } else {
                term.list.for_each_of(&in_order, |place| add(in_order[place]));
            }
        }
    }

    /// What the terms could add to a document at most, and a little for rounding.
    fn most_of(&self, terms: &[Term<'_, '_>]) -> f32 {
        let worth: f32 = terms.iter().map(|term| term.worth).sum();
        worth * saturation(0, self.pivot) * (1.0 + 1e-4)
    }

    /// The score of each of `ordinals` by its own words and those of up to
    /// [`REACH`](crate::index::around::REACH) neighbours on each side: each word counts once, where it is worth
    /// most.
    pub fn scores<N: Neighbours + ?Sized>(&self, ordinals: &[u32], neighbours: &N) -> Vec<f32> {
        let mut total = vec![0.0; ordinals.len()];
        if self.terms.is_empty() {
            return total;
        }
        let around = Around::new(ordinals, self.lexical.ordinals(), neighbours);
        let mut own = vec![[0.0_f32; TERMS_AT_ONCE]; around.involved.len()];
        let shares: Vec<f32> = around.involved.iter().map(|at| self.saturation(*at)).collect();
        for terms in self.terms.chunks(TERMS_AT_ONCE) {
            self.own_scores(terms, &around, &shares, &mut own);
            for (total, near) in total.iter_mut().zip(around.each()) {
                let mut best = [0.0_f32; TERMS_AT_ONCE];
                for (at, share) in near {
                    let Some(own) = own.get(slot(*at)) else { continue };
                    for (best, own) in best.iter_mut().zip(own) {
                        let worth = own * share;
                        *best = if worth > *best { worth } else { *best };
                    }
                }
                best.iter().for_each(|best| *total += best);
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

    /// What each of a few terms is worth in each document that is involved. `shares` is what a word
    /// counts in each of them.
    fn own_scores(
        &self,
        terms: &[Term<'_, '_>],
        around: &Around,
        shares: &[f32],
        own: &mut [[f32; TERMS_AT_ONCE]],
    ) {
        own.fill([0.0; TERMS_AT_ONCE]);
        for (number, term) in terms.iter().enumerate() {
            if let Some(has) = term.list.marks() {
                // Always written: whether a document has a common word cannot be foreseen.
                for ((own, share), ordinal) in own.iter_mut().zip(shares).zip(&around.involved) {
                    let worth = term.worth * share;
                    own[number] = if has(*ordinal) { worth } else { 0.0 };
                }
            } else if is_read_whole(term.list, around.involved.len()) {
                for place in term.list.iter().filter_map(|ordinal| around.place(ordinal)) {
                    own[place][number] = term.worth * shares[place];
                }
            } else {
                term.list.for_each_of(&around.involved, |place| {
                    own[place][number] = term.worth * shares[place];
                });
            }
        }
    }

    fn saturation(&self, ordinal: u32) -> f32 {
        let usual = self.lexical.brief_length_of(ordinal);
        let usual = usual.and_then(|length| self.by_length.get(usize::from(length)).copied());
        usual
            .unwrap_or_else(|| saturation(self.lexical.length_of(ordinal).unwrap_or(0), self.pivot))
    }
}

/// What documents have gathered so far.
#[derive(Debug)]
struct Sums {
    /// By ordinal.
    scores: Vec<f32>,
    /// The documents with a score.
    matching: Vec<u32>,
    highest: f32,
}

impl Sums {
    fn add(&mut self, ordinal: u32, worth: f32) {
        let Some(score) = self.scores.get_mut(slot(ordinal)) else { return };
        if *score <= 0.0 {
            self.matching.push(ordinal);
        }
        *score += worth;
        self.highest = self.highest.max(*score);
    }

    /// Where documents with no score cannot be among the best with `more` either: leaves those that can.
    /// Whether that is so.
    fn narrow(&mut self, limit: usize, more: f32, accept: &dyn Fn(u32) -> bool) -> bool {
        if limit == 0 || self.matching.len() < limit || more >= self.highest {
            return false;
        }
        // Most attempts end here: there are too few that what is left could not outdo.
        let safe = self.above(more);
        if safe.len() < limit {
            return false;
        }
        let best = top(safe, limit, accept);
        let Some(least) = best.get(limit - 1).map(|hit| hit.score) else { return false };
        let scores = &self.scores;
        self.matching.retain(|at| scores[slot(*at)] + more >= least);
        true
    }

    /// The documents whose score is above some other.
    fn above(&self, least: f32) -> Vec<Hit> {
        let hit = |at: &u32| Hit { ordinal: *at, score: self.scores[slot(*at)] };
        self.matching.iter().map(hit).filter(|hit| hit.score > least).collect()
    }
}

/// Whether a list is so short, beside the documents that are looked for in it, that to read all of it is
/// faster than to search for each of them.
fn is_read_whole(list: &Postings, wanted: usize) -> bool {
    slot(list.count()) / READ_WHOLE <= wanted
}

/// What the presence of a word says, less in a document that is longer than most.
fn saturation(length: u32, pivot: f32) -> f32 {
    1.0 / (1.0 + K1 * (1.0 - B + B * length as f32 / pivot))
}

/// Inverse document frequency, always above zero.
fn rarity(documents: u32, with_term: u32) -> f32 {
    let without = documents.saturating_sub(with_term) as f32;
    ((without + 0.5) / (with_term as f32 + 0.5)).ln_1p()
}
