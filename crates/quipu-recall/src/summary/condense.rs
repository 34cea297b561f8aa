//! Owns what many texts say together in few characters: their most telling sentences, each once and with who else says
//! it, and of the rest the phrases that carry its topic. Invents nothing, and knows no authors and no dates.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    limits::MAX_DIGEST_SENTENCES,
    summary::{
        extract::{Chosen, Sentence, choose},
        facts::{Phrase, phrases},
        summarize::{bounded, lead},
    },
};

/// Sentences of each text that are looked at, at the least.
const SOURCE_SENTENCES_MIN: usize = 4;
/// How much of the room is for whole sentences, in hundredths; the rest is for phrases.
const QUOTED_SHARE: usize = 60;
/// What parts one phrase from the next.
const PHRASE_GAP: usize = 2;
/// Characters of a phrase at most.
const PHRASE_CHARS_MAX: usize = 60;

/// A text among those that are condensed together.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub text: &'a str,
    /// What speaks for its sentences beyond their words, from 0 to about 1: what kind of text it is.
    pub worth: f32,
    /// Under which heading it is told.
    pub heading: usize,
}

/// How much may be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Every sentence that says something of its own.
    Everything,
    /// So many characters, headings included.
    Chars(usize),
}

/// A sentence of one text, as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote<'a> {
    /// Which text it is from.
    pub source: usize,
    pub sentence: std::borrow::Cow<'a, str>,
    /// Of which texts there are sentences that say the same, each time that one does.
    pub repeats: Vec<usize>,
}

/// What many texts say together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condensed<'a> {
    /// In the order of the texts.
    pub quotes: Vec<Quote<'a>>,
    /// Phrases of what is not quoted, in the order of the texts.
    pub phrases: Vec<&'a str>,
}

/// Condenses texts. `headings` has the characters that each heading costs, once, where something is told under it. The same
/// texts and the same room always give the same.
pub fn condense<'a>(sources: &[Source<'a>], headings: &[usize], room: Room) -> Condensed<'a> {
    let each = (MAX_DIGEST_SENTENCES / sources.len().max(1)).max(SOURCE_SENTENCES_MIN);
    let found: Vec<Sentence<'a>> = sources
        .iter()
        .enumerate()
        .flat_map(|(source, Source { text, worth, .. })| {
            let of_source = bounded(text.trim()).into_iter().take(each).enumerate();
            of_source.map(move |(place, text)| Sentence { text, source, place, worth: *worth })
        })
        .collect();
    let mut purse = Purse::new(sources, headings, room);
    let mut chosen = choose(&found, |at| found.get(at).is_some_and(|it| purse.take(it)));
    chosen.sort_by_key(|chosen| chosen.at);
    let mut quotes: Vec<Quote<'a>> =
        chosen.iter().filter_map(|chosen| quote(&found, chosen)).collect();
    let phrases = match room {
        Room::Everything => Vec::new(),
        Room::Chars(_) => purse.phrases(&found, &chosen),
    };
    if quotes.is_empty()
        && phrases.is_empty()
        && let (Room::Chars(room), Some(first)) = (room, found.first())
    {
        let heading = purse.cost_of(first.source);
        let sentence = lead(first.text, room.saturating_sub(heading + 1));
        if !sentence.is_empty() {
            quotes.push(Quote { source: first.source, sentence, repeats: Vec::new() });
        }
    }
    Condensed { quotes, phrases }
}

fn quote<'a>(found: &[Sentence<'a>], chosen: &Chosen) -> Option<Quote<'a>> {
    let sentence = found.get(chosen.at)?;
    let repeats = chosen.repeats.iter().filter_map(|at| Some(found.get(*at)?.source));
    Some(Quote {
        source: sentence.source,
        sentence: sentence.text.into(),
        repeats: repeats.collect(),
    })
}

/// The characters that are left.
struct Purse<'s> {
    sources: &'s [Source<'s>],
    headings: &'s [usize],
    /// Those for sentences, and those for phrases.
    left: Option<(usize, usize)>,
    opened: BTreeSet<usize>,
}

impl<'s> Purse<'s> {
    fn new(sources: &'s [Source<'s>], headings: &'s [usize], room: Room) -> Self {
        let left = match room {
            Room::Everything => None,
            Room::Chars(chars) => {
                let quoted = chars * QUOTED_SHARE / 100;
                Some((quoted, chars - quoted))
            }
        };
        Self { sources, headings, left, opened: BTreeSet::new() }
    }

    fn cost_of(&self, source: usize) -> usize {
        let heading = self.sources.get(source).map_or(0, |source| source.heading);
        if self.opened.contains(&heading) {
            return 0;
        }
        self.headings.get(heading).copied().unwrap_or(0)
    }

    /// Takes the characters of a sentence from what is left, if they are there.
    fn take(&mut self, sentence: &Sentence<'_>) -> bool {
        let cost = self.cost_of(sentence.source) + sentence.text.chars().count() + 1;
        if let Some((quoted, _)) = &mut self.left {
            let Some(left) = quoted.checked_sub(cost) else { return false };
            *quoted = left;
        }
        let heading = self.sources.get(sentence.source).map(|source| source.heading);
        self.opened.extend(heading);
        true
    }

    /// Phrases of the sentences that are not quoted: figures and names first, then what fewest of them say.
    fn phrases<'a>(&self, found: &[Sentence<'a>], chosen: &[Chosen]) -> Vec<&'a str> {
        let Some((unused, own)) = self.left else { return Vec::new() };
        let mut left = unused + own;
        let quoted: BTreeSet<usize> = chosen
            .iter()
            .flat_map(|chosen| chosen.repeats.iter().copied().chain([chosen.at]))
            .collect();
        let mut said: BTreeSet<String> = BTreeSet::new();
        for chosen in chosen {
            let text = found.get(chosen.at).map_or("", |sentence| sentence.text);
            said.extend(phrases(text).into_iter().flat_map(|phrase| phrase.terms));
        }
        let rest = found.iter().enumerate().filter(|(at, _)| !quoted.contains(at));
        let open: Vec<Phrase<'a>> = rest.flat_map(|(_, sentence)| phrases(sentence.text)).collect();
        let mut spread: HashMap<&str, usize> = HashMap::new();
        for term in open.iter().flat_map(|phrase| &phrase.terms) {
            *spread.entry(term).or_default() += 1;
        }
        let rarity = |phrase: &Phrase<'_>| {
            phrase.terms.iter().filter_map(|term| spread.get(term.as_str())).min().copied()
        };
        let mut order: Vec<usize> = (0..open.len()).collect();
        order.sort_by_key(|at| open.get(*at).map(|phrase| (!phrase.is_fact, rarity(phrase), *at)));
        let mut taken: BTreeMap<usize, &'a str> = BTreeMap::new();
        for at in order {
            let Some(phrase) = open.get(at) else { continue };
            let chars = phrase.text.chars().count();
            let is_known = phrase.terms.iter().all(|term| said.contains(term));
            if is_known || chars < 3 && !phrase.is_fact || chars > PHRASE_CHARS_MAX {
                continue;
            }
            let Some(rest) = left.checked_sub(chars + PHRASE_GAP) else { continue };
            left = rest;
            said.extend(phrase.terms.iter().cloned());
            taken.insert(at, phrase.text);
        }
        taken.into_values().collect()
    }
}
