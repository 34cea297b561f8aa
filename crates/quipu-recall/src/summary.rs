//! Owns extractive summaries: whole sentences of the text, none invented, within a token limit.
//! Does not decide when a summary is given (`budget` does).

use std::collections::HashMap;

use crate::analyze::{Analyzed, analyze};
use crate::limits::{MAX_SUMMARY_SENTENCES, MAX_SUMMARY_SOURCE_BYTES};
use crate::tokens;

const ELLIPSIS: char = '…';

/// Words that end in a full stop without ending a sentence, in lower case.
const ABBREVIATIONS: &[&str] =
    &["approx", "cf", "dr", "e.g", "etc", "fig", "i.e", "inc", "mr", "mrs", "vs"];

/// A summary of `text` of at most `max_tokens` tokens.
///
/// A text that fits is returned whole, trimmed. Otherwise the first sentence and then the most
/// informative ones are taken while they fit, in the order of the text; where not one fits, the
/// first is cut at a word and ends in "…". Empty where not even that fits. The same text and
/// limit always give the same summary.
pub fn summarize(text: &str, max_tokens: usize) -> String {
    let text = text.trim();
    if tokens::count_within(text, max_tokens).is_some() {
        return text.to_owned();
    }
    let source = text.get(..text.floor_char_boundary(MAX_SUMMARY_SOURCE_BYTES)).unwrap_or(text);
    let mut sentences = sentences(source);
    if source.len() < text.len() && sentences.len() > 1 {
        // The last sentence may have been cut by the bound on the source.
        sentences.pop();
    }
    let mut chosen = choose(&sentences, max_tokens);
    loop {
        let summary = in_text_order(&sentences, &chosen);
        if chosen.is_empty() {
            return cut(sentences.first().copied().unwrap_or_default(), max_tokens);
        }
        // Counts of parts need not add up to the count of the whole, so the whole is checked.
        if tokens::count_within(&summary, max_tokens).is_some() {
            return summary;
        }
        chosen.pop();
    }
}

/// Sentences that fit together, as indexes, the most wanted first.
fn choose(sentences: &[&str], max_tokens: usize) -> Vec<usize> {
    let mut left = max_tokens;
    let mut chosen = Vec::new();
    for index in by_worth(sentences) {
        let Some(sentence) = sentences.get(index) else { continue };
        if let Some(tokens) = tokens::count_within(&format!(" {sentence}"), left) {
            left -= tokens;
            chosen.push(index);
        }
    }
    chosen
}

/// The first sentence, then the others by how much of what the text is about they say.
fn by_worth(sentences: &[&str]) -> Vec<usize> {
    let analyzed: Vec<Analyzed> = sentences.iter().map(|sentence| analyze(sentence)).collect();
    let mut spread: HashMap<&str, f32> = HashMap::new();
    for (term, _) in analyzed.iter().flat_map(Analyzed::terms) {
        *spread.entry(term).or_default() += 1.0;
    }
    let mut order: Vec<(usize, f32)> =
        analyzed.iter().enumerate().map(|(at, terms)| (at, worth(at, terms, &spread))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    order.into_iter().map(|(at, _)| at).collect()
}

fn worth(position: usize, sentence: &Analyzed, spread: &HashMap<&str, f32>) -> f32 {
    if position == 0 {
        return f32::INFINITY;
    }
    let shared: f32 = sentence.terms().filter_map(|(term, _)| spread.get(term)).sum();
    let numbers = sentence.terms().filter(|(term, _)| term.starts_with(|c: char| c.is_numeric()));
    let about = shared / (sentence.distinct() as f32 + 2.0);
    // Figures are what a reader can least reconstruct; early sentences are what authors lead with.
    about + 0.5 * numbers.count().min(2) as f32 + 1.0 / (position as f32 + 1.0)
}

fn in_text_order(sentences: &[&str], chosen: &[usize]) -> String {
    let mut order = chosen.to_vec();
    order.sort_unstable();
    let parts: Vec<&str> = order.iter().filter_map(|at| sentences.get(*at).copied()).collect();
    parts.join(" ")
}

/// Splits at sentence ends and line ends, at most [`MAX_SUMMARY_SENTENCES`] of them.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        let next = letters.peek().map(|(_, next)| *next);
        if ends_sentence(text.get(start..at).unwrap_or_default(), letter, next) {
            found.extend(text.get(start..end).map(str::trim).filter(|part| !part.is_empty()));
            start = end;
            if found.len() == MAX_SUMMARY_SENTENCES {
                return found;
            }
        }
    }
    found.extend(text.get(start..).map(str::trim).filter(|part| !part.is_empty()));
    found
}

fn ends_sentence(before: &str, letter: char, next: Option<char>) -> bool {
    match letter {
        '\n' | '。' | '！' | '？' => true,
        '!' | '?' | '…' | '؟' | '।' => next.is_none_or(char::is_whitespace),
        '.' => next.is_none_or(char::is_whitespace) && !is_abbreviation(before),
        _ => false,
    }
}

/// Whether a full stop after `before` belongs to its last word.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next();
    word.is_some_and(|word| {
        word.len() <= 6 && ABBREVIATIONS.contains(&word.to_lowercase().as_str())
    })
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
