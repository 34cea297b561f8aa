//! Owns extractive summaries: whole sentences of one text or of many, none invented, none twice, within a token
//! limit. Does not decide when a summary is given (`budget` does) nor which sentences are worth more (`extract` does).

use std::borrow::Cow;

use crate::{
    limits::{MAX_DIGEST_SENTENCES, MAX_SUMMARY_SOURCE_BYTES},
    rank::query::Query,
    summary::extract::{Sentence, answering, choose},
    text::{
        sentences::{ends_sentence, sentences},
        tokens,
    },
};

const ELLIPSIS: char = '…';
/// Sentences of each source that are looked at, at the least.
const SOURCE_SENTENCES_MIN: usize = 4;
/// What the first sentence is worth, more than any salience, and what the sentence that answers best is
/// worth, more than that.
const OPENING_WORTH: f32 = 100.0;
const ANSWER_WORTH: f32 = 200.0;

/// A text among those that are summed up together.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub text: &'a str,
    /// What speaks for its sentences beyond their words, from 0 to about 1: what kind of text it is.
    pub worth: f32,
    /// Tokens that naming the source costs, once.
    pub name_tokens: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extract<'a> {
    /// Which source.
    pub source: usize,
    /// The sentence as it stands there; only where no whole one fits, a cut one that ends in "…".
    pub sentence: Cow<'a, str>,
}

/// A summary of `text` of at most `max_tokens` tokens.
///
/// A text that fits is returned whole, trimmed. Otherwise the first sentence and then the most
/// telling ones are taken while they fit, none that says what another says, in the order of the text; where
/// not one fits, the first is cut at a word and ends in "…". Empty where not even that fits. The same text and
/// limit always give the same summary.
pub fn summarize(text: &str, max_tokens: usize) -> String {
    summarize_for(text, &Query::default(), max_tokens)
}

/// As [`summarize`], for a reader who asks for something: the sentences that share its words are taken
/// first, the first sentence after the best of them.
pub fn summarize_for(text: &str, asked: &Query, max_tokens: usize) -> String {
    let text = text.trim();
    if tokens::count_within(text, max_tokens).is_some() {
        return text.to_owned();
    }
    let sentences = bounded(text);
    let answers = answering(&sentences, asked);
    let found: Vec<Sentence<'_>> = sentences
        .into_iter()
        .zip(&answers)
        .enumerate()
        .map(|(place, (text, answer))| {
            // The first one says what the text is about.
            let opening = if place == 0 { OPENING_WORTH } else { 0.0 };
            Sentence { text, source: 0, place, worth: opening + ANSWER_WORTH * answer }
        })
        .collect();
    let mut left = max_tokens;
    let chosen = choose(&found, |at| take(&found, at, 0, &mut left));
    let extracts = fitting(&found, chosen, max_tokens);
    if extracts.is_empty() {
        let wanted = found.iter().rev().max_by(|a, b| a.worth.total_cmp(&b.worth));
        return cut(wanted.map_or("", |sentence| sentence.text), max_tokens);
    }
    join(&extracts)
}

/// The sentences that stand for all of `sources`, in their order, at most `max_tokens` tokens together with the
/// names of the sources that they are from.
///
/// Sentences with figures, decisions and open questions are preferred, and no two say the same. Where not one whole
/// sentence fits, the beginning of the first source is cut. The same sources and limit always give the same.
pub fn digest<'a>(sources: &[Source<'a>], max_tokens: usize) -> Vec<Extract<'a>> {
    let each = (MAX_DIGEST_SENTENCES / sources.len().max(1)).max(SOURCE_SENTENCES_MIN);
    let found: Vec<Sentence<'a>> = sources
        .iter()
        .enumerate()
        .flat_map(|(source, Source { text, worth, .. })| {
            let of_source = bounded(text.trim()).into_iter().take(each).enumerate();
            of_source.map(move |(place, text)| Sentence { text, source, place, worth: *worth })
        })
        .collect();
    let mut left = max_tokens;
    let mut named = vec![false; sources.len()];
    let chosen = choose(&found, |at| {
        let Some(sentence) = found.get(at) else { return false };
        let name = sources.get(sentence.source).map_or(0, |source| source.name_tokens);
        let Some(is_named) = named.get_mut(sentence.source) else { return false };
        let taken = take(&found, at, if *is_named { 0 } else { name }, &mut left);
        *is_named |= taken;
        taken
    });
    let names = sources.iter().zip(named).filter(|(_, named)| *named);
    let names: usize = names.map(|(source, _)| source.name_tokens).sum();
    let extracts = fitting(&found, chosen, max_tokens.saturating_sub(names));
    if !extracts.is_empty() {
        return extracts;
    }
    let Some(first) = found.first() else { return extracts };
    let name = sources.get(first.source).map_or(0, |source| source.name_tokens);
    let sentence = cut(first.text, max_tokens.saturating_sub(name));
    let extract = Extract { source: first.source, sentence: sentence.into() };
    if extract.sentence.is_empty() { extracts } else { vec![extract] }
}

/// The sentences of as much of a text as may be looked at.
fn bounded(text: &str) -> Vec<&str> {
    let source = text.get(..text.floor_char_boundary(MAX_SUMMARY_SOURCE_BYTES)).unwrap_or(text);
    let mut sentences = sentences(source);
    if source.len() < text.len() && sentences.len() > 1 {
        // The last sentence may have been cut by the bound on the source.
        sentences.pop();
    }
    sentences
}

/// Takes the tokens of a sentence, and so many more, from what is left, if they are there.
fn take(sentences: &[Sentence<'_>], at: usize, more: usize, left: &mut usize) -> bool {
    let Some(sentence) = sentences.get(at) else { return false };
    let room = left.checked_sub(more);
    let tokens = room.and_then(|room| tokens::count_within(&format!(" {}", sentence.text), room));
    let Some(tokens) = tokens else { return false };
    *left -= tokens + more;
    true
}

/// The chosen sentences in order. The least wanted go where all together are longer than their sum.
fn fitting<'a>(
    sentences: &[Sentence<'a>],
    mut chosen: Vec<usize>,
    max_tokens: usize,
) -> Vec<Extract<'a>> {
    loop {
        let mut order = chosen.clone();
        order.sort_unstable();
        let extracts: Vec<Extract<'a>> = order
            .iter()
            .filter_map(|at| sentences.get(*at))
            .map(|found| Extract { source: found.source, sentence: found.text.into() })
            .collect();
        let fits = tokens::count_within(&join(&extracts), max_tokens).is_some();
        if fits || chosen.pop().is_none() {
            return extracts;
        }
    }
}

fn join(extracts: &[Extract<'_>]) -> String {
    let parts: Vec<&str> = extracts.iter().map(|extract| extract.sentence.as_ref()).collect();
    parts.join(" ")
}

/// The beginning of `text`, about `max_chars` characters at most and never more: whole sentences where the first
/// fits, else words and "…". Far cheaper than [`summarize`], for lists of many texts.
pub fn lead(text: &str, max_chars: usize) -> Cow<'_, str> {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return Cow::Borrowed(text) };
    let start = text.get(..end).unwrap_or(text);
    let next = |at: usize| text.get(at..).and_then(|rest| rest.chars().next());
    let ends = start.char_indices().rev().filter(|(_, letter)| !letter.is_alphanumeric());
    let sentence = ends
        .map(|(at, letter)| (at, letter, at + letter.len_utf8()))
        .find(|(at, letter, behind)| {
            ends_sentence(start.get(..*at).unwrap_or_default(), *letter, next(*behind))
        })
        .and_then(|(_, _, behind)| start.get(..behind).map(str::trim_end))
        .filter(|sentence| !sentence.is_empty());
    if let Some(sentence) = sentence {
        return Cow::Borrowed(sentence);
    }
    // One character less, so that the ellipsis has room.
    let room = start.char_indices().next_back().map_or(0, |(at, _)| at);
    let start = start.get(..room).unwrap_or_default();
    let word = start.rfind(char::is_whitespace).and_then(|at| start.get(..at)).unwrap_or(start);
    if max_chars == 0 {
        Cow::Borrowed("")
    } else {
        Cow::Owned(format!("{}{ELLIPSIS}", word.trim_end()))
    }
}

/// The longest start of `sentence` that fits with an ellipsis, up to a word where one fits.
fn cut(sentence: &str, max_tokens: usize) -> String {
    let words: Vec<usize> = sentence
        .char_indices()
        .filter(|(_, letter)| letter.is_whitespace())
        .map(|(at, _)| at)
        .collect();
    let first_word = words.first().copied().unwrap_or(sentence.len());
    longest_fitting(sentence, &words, max_tokens)
        .or_else(|| {
            let letters = sentence.char_indices().map(|(at, letter)| at + letter.len_utf8());
            let letters: Vec<usize> = letters.take_while(|end| *end < first_word).collect();
            longest_fitting(sentence, &letters, max_tokens)
        })
        .unwrap_or_default()
}

/// The start of `sentence` up to the last of `ends` that fits, with its ellipsis.
fn longest_fitting(sentence: &str, ends: &[usize], max_tokens: usize) -> Option<String> {
    let shortened = |end: &usize| {
        let start = sentence.get(..*end).unwrap_or_default().trim_end();
        let start = start.trim_end_matches([',', ';', ':', '-', '–', '(']).trim_end();
        (!start.is_empty()).then(|| format!("{start}{ELLIPSIS}"))
    };
    let fits = |end: &usize| {
        shortened(end).is_none_or(|text| tokens::count_within(&text, max_tokens).is_some())
    };
    // Longer starts almost always cost more, so halving lands at or next to the longest that fits.
    let near = ends.partition_point(fits);
    ends.get(..near)?.iter().rev().find(|end| fits(end)).and_then(&shortened)
}
