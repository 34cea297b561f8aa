//! Owns extractive summaries: whole sentences of one text, none invented, none twice, within a token limit. Does not decide when a summary is given (`budget` does) nor which sentences are worth more (`extract` does).

use std::borrow::Cow;

use crate::{
    limits::MAX_SUMMARY_SOURCE_BYTES,
    rank::query::Query,
    summary::extract::{Chosen, Sentence, answering, choose},
    text::{
        sentences::{ends_sentence, sentences},
        tokens,
    },
};

const ELLIPSIS: char = '…';
/// What the first sentence is worth, more than any salience, and what the sentence that answers best is
/// worth, more than that.
const OPENING_WORTH: f32 = 100.0;
const ANSWER_WORTH: f32 = 200.0;

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
    let chosen = choose(&found, |at| take(&found, at, &mut left));
    let text = fitting(&found, chosen, max_tokens);
    if text.is_empty() {
        let wanted = found.iter().rev().max_by(|a, b| a.worth.total_cmp(&b.worth));
        return cut(wanted.map_or("", |sentence| sentence.text), max_tokens);
    }
    text
}

/// The sentences of as much of a text as may be looked at.
pub(super) fn bounded(text: &str) -> Vec<&str> {
    let source = text.get(..text.floor_char_boundary(MAX_SUMMARY_SOURCE_BYTES)).unwrap_or(text);
    let mut sentences = sentences(source);
    if source.len() < text.len() && sentences.len() > 1 {
        // The last sentence may have been cut by the bound on the source.
        sentences.pop();
    }
    sentences
}

/// Takes the tokens of a sentence from what is left, if they are there.
fn take(sentences: &[Sentence<'_>], at: usize, left: &mut usize) -> bool {
    let Some(sentence) = sentences.get(at) else { return false };
    let Some(tokens) = tokens::count_within(&format!(" {}", sentence.text), *left) else {
        return false;
    };
    *left -= tokens;
    true
}

/// The chosen sentences in order. The least wanted go where all together are longer than their sum.
fn fitting(sentences: &[Sentence<'_>], mut chosen: Vec<Chosen>, max_tokens: usize) -> String {
    loop {
        let mut order: Vec<usize> = chosen.iter().map(|chosen| chosen.at).collect();
        order.sort_unstable();
        let parts: Vec<&str> =
            order.iter().filter_map(|at| sentences.get(*at)).map(|found| found.text).collect();
        let text = parts.join(" ");
        if tokens::count_within(&text, max_tokens).is_some() || chosen.pop().is_none() {
            return text;
        }
    }
}

/// The beginning of `text`, about `max_chars` characters at most and never more: whole sentences where the first
/// fits, else words and "…". Far cheaper than [`summarize`], for lists of many texts.
pub fn lead(text: &str, max_chars: usize) -> Cow<'_, str> {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return Cow::Borrowed(text) };
    let start = text.get(..end).unwrap_or(text);
    let rest = |at: usize| text.get(at..).unwrap_or_default();
    let ends = start.char_indices().rev().filter(|(_, letter)| !letter.is_alphanumeric());
    let sentence = ends
        .map(|(at, letter)| (at, letter, at + letter.len_utf8()))
        .find(|(at, letter, behind)| {
            ends_sentence(start.get(..*at).unwrap_or_default(), *letter, rest(*behind))
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
