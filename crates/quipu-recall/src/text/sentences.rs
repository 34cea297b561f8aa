//! Owns where a sentence ends. Weighs none and drops none.

use crate::limits::MAX_SUMMARY_SENTENCES;

/// Words that end in a full stop without ending a sentence, in lower case.
const ABBREVIATIONS: &[&str] =
    &["approx", "cf", "dr", "e.g", "etc", "fig", "i.e", "inc", "mr", "mrs", "vs"];

/// Splits at sentence ends and line ends, at most [`MAX_SUMMARY_SENTENCES`] of them.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
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

pub(crate) fn ends_sentence(before: &str, letter: char, next: Option<char>) -> bool {
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
