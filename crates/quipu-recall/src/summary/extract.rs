//! Owns which sentences stand for many: the most telling first, each judged beside those already taken, and
//! none that says what another says. Counts no tokens.

use std::collections::{HashMap, HashSet};

use crate::{
    analyze::analyze,
    rank::{query::Query, score::relative},
};

/// How much likeness to what was taken counts against a sentence.
const LIKENESS_COST: f32 = 1.5;
/// What each sentence already taken from the same source costs, so that many sources have their say.
const SAME_SOURCE_COST: f32 = 0.15;
/// What a figure is worth, up to two: it is what a reader can least reconstruct.
const FIGURE_WORTH: f32 = 0.5;
/// What a decision or an open question is worth.
const CUE_WORTH: f32 = 0.6;
/// From this share of common words on, two sentences say the same.
const SAME_WORDS: f32 = 0.7;

const DECIDING: &[&str] = &[
    "agreed",
    "approved",
    "chose",
    "chosen",
    "committed",
    "decide",
    "decided",
    "decision",
    "mandatory",
    "must",
    "rejected",
    "required",
    "selected",
    "shall",
];
const OPEN: &[&str] =
    &["blocked", "question", "tbd", "todo", "unclear", "undecided", "unknown", "unresolved"];
const NEGATING: &[&str] = &["cannot", "neither", "never", "no", "none", "nor", "not", "without"];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sentence<'a> {
    pub(crate) text: &'a str,
    /// Which text it is from.
    pub(crate) source: usize,
    /// Where in it, from 0.
    pub(crate) place: usize,
    /// What speaks for it beyond its words.
    pub(crate) worth: f32,
}

#[derive(Debug, Default)]
struct Weighed {
    /// Its words as numbers, sorted.
    words: Vec<u32>,
    /// Those of them that are figures.
    figures: Vec<u32>,
    is_negative: bool,
    salience: f32,
}

/// A sentence that was taken.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) at: usize,
    /// The sentences that say the same, which are left out.
    pub(crate) repeats: Vec<usize>,
}

/// Chooses sentences, the most wanted first. `takes` says whether there is room for one; it is asked once for
/// each, and what it takes is chosen. The same sentences give the same choice.
pub(crate) fn choose(
    sentences: &[Sentence<'_>],
    mut takes: impl FnMut(usize) -> bool,
) -> Vec<Chosen> {
    let weighed = weigh(sentences);
    let mut costs = vec![0.0_f32; sentences.len()];
    let mut open: Vec<usize> = (0..sentences.len()).collect();
    let mut likeness = vec![0.0_f32; sentences.len()];
    let mut chosen = Vec::new();
    while let Some(best) = best(&open, |at| {
        let salience = weighed.get(at).map_or(0.0, |weighed| weighed.salience);
        salience - value(&costs, at) - LIKENESS_COST * value(&likeness, at)
    }) {
        open.retain(|at| *at != best);
        if !takes(best) {
            continue;
        }
        let mut repeats = Vec::new();
        let (Some(taken), Some(taken_weighed)) = (sentences.get(best), weighed.get(best)) else {
            continue;
        };
        open.retain(|&at| {
            let (Some(other), Some(of_other)) = (sentences.get(at), weighed.get(at)) else {
                return false;
            };
            let alike = shared(&taken_weighed.words, &of_other.words);
            if let Some(most) = likeness.get_mut(at) {
                *most = most.max(alike);
            }
            if other.source == taken.source
                && let Some(cost) = costs.get_mut(at)
            {
                *cost += SAME_SOURCE_COST;
            }
            let repeats_it = other.text == taken.text
                || alike >= SAME_WORDS && same_claim(taken_weighed, of_other);
            if repeats_it {
                repeats.push(at);
            }
            !repeats_it
        });
        chosen.push(Chosen { at: best, repeats });
    }
    chosen
}

/// How much of what is asked for each sentence says, from 0 to 1 for the one that says most. Words that few
/// of the sentences have count more.
pub(crate) fn answering(sentences: &[&str], asked: &Query) -> Vec<f32> {
    let mut answers = vec![0.0_f32; sentences.len()];
    if asked.is_empty() {
        return answers;
    }
    let analyzed: Vec<_> = sentences.iter().map(|text| analyze(text)).collect();
    let words: Vec<HashSet<&str>> =
        analyzed.iter().map(|found| found.terms().map(|(term, _)| term).collect()).collect();
    for asked in asked.terms() {
        let with = words.iter().filter(|words| words.contains(&*asked.term)).count();
        let rarity = (sentences.len() as f32 / with.max(1) as f32).ln_1p();
        for (answer, _) in
            answers.iter_mut().zip(&words).filter(|(_, words)| words.contains(&*asked.term))
        {
            *answer += asked.weight * rarity;
        }
    }
    let most = answers.iter().copied().fold(0.0, f32::max);
    answers.iter().map(|answer| relative(*answer, most)).collect()
}

/// The place with the highest value, the first of several.
fn best(open: &[usize], value: impl Fn(usize) -> f32) -> Option<usize> {
    let valued = open.iter().map(|at| (*at, value(*at)));
    valued
        .reduce(|best, next| if next.1.total_cmp(&best.1).is_gt() { next } else { best })
        .map(|(at, _)| at)
}

fn value(values: &[f32], at: usize) -> f32 {
    values.get(at).copied().unwrap_or(0.0)
}

/// Other figures or another polarity make another claim, however many words are the same.
fn same_claim(one: &Weighed, other: &Weighed) -> bool {
    one.figures == other.figures && one.is_negative == other.is_negative
}

fn weigh(sentences: &[Sentence<'_>]) -> Vec<Weighed> {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut spread: Vec<f32> = Vec::new();
    let mut weighed = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let mut words = Weighed { is_negative: is_negative(sentence.text), ..Weighed::default() };
        for (term, _) in analyze(sentence.text).terms() {
            let next = u32::try_from(spread.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(term.to_owned()).or_insert(next);
            if number == next {
                spread.push(0.0);
            }
            if let Some(count) = usize::try_from(number).ok().and_then(|at| spread.get_mut(at)) {
                *count += 1.0;
            }
            words.words.push(number);
            if term.starts_with(|letter: char| letter.is_numeric()) {
                words.figures.push(number);
            }
        }
        words.words.sort_unstable();
        words.figures.sort_unstable();
        weighed.push(words);
    }
    for (sentence, words) in sentences.iter().zip(&mut weighed) {
        words.salience = salience(sentence, words, &spread);
    }
    weighed
}

fn salience(sentence: &Sentence<'_>, words: &Weighed, spread: &[f32]) -> f32 {
    let of = |word: &u32| usize::try_from(*word).ok().and_then(|at| spread.get(at)).copied();
    let common: f32 = words.words.iter().filter_map(of).map(|count| (1.0 + count).log2()).sum();
    let about = common / (words.words.len() as f32 + 2.0);
    let figures = words.figures.len().min(2) as f32;
    let cue = if is_decision(sentence.text) || is_open(sentence.text) { CUE_WORTH } else { 0.0 };
    // Early sentences are what authors lead with.
    let early = 1.0 / (sentence.place as f32 + 1.0);
    about + FIGURE_WORTH * figures + cue + early + sentence.worth
}

/// The share of words that two sentences have in common, of those that either has.
fn shared(one: &[u32], other: &[u32]) -> f32 {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let (mut both, mut all) = (0.0_f32, 0.0_f32);
    while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
        let order = a.cmp(b);
        if order.is_le() {
            one.next();
        }
        if order.is_ge() {
            other.next();
        }
        if order.is_eq() {
            both += 1.0;
        }
        all += 1.0;
    }
    all += one.count() as f32 + other.count() as f32;
    if all == 0.0 { 0.0 } else { both / all }
}

fn is_decision(text: &str) -> bool {
    has_word(text, DECIDING)
}

fn is_open(text: &str) -> bool {
    text.ends_with(['?', '？', '؟']) || has_word(text, OPEN)
}

fn is_negative(text: &str) -> bool {
    has_word(text, NEGATING) || text.contains("n't") || text.contains("n’t")
}

fn has_word(text: &str, words: &[&str]) -> bool {
    let mut found = text.split(|letter: char| !letter.is_alphanumeric());
    found.any(|word| words.iter().any(|listed| word.eq_ignore_ascii_case(listed)))
}
