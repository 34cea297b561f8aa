//! Cuts a sentence into tokens that keep what the index throws away: negations, numbers with their
//! signs, names with their capitals, and where each one stands.

use super::words::is_function;
use crate::text::stem::stem;

/// A word, a number or a sign that means something.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'text> {
    /// As written.
    pub(super) surface: &'text str,
    /// In lower case.
    pub(super) lower: String,
    /// In lower case and without its ending.
    pub(super) stem: String,
    /// Whether a comma or a bracket stands before it, so that another clause may begin.
    pub(super) after_break: bool,
}

impl Token<'_> {
    /// Whether it begins with a digit.
    pub(super) fn is_numeric(&self) -> bool {
        self.lower.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Whether it only holds a sentence together.
    pub(super) fn is_function(&self) -> bool {
        is_function(&self.lower)
    }

    /// Whether it is written like a name: a capital that does not only begin the sentence, or digits
    /// and letters in one.
    pub(super) fn is_name_like(&self, first: bool) -> bool {
        let capital = self.surface.starts_with(char::is_uppercase);
        let inner = self.surface.chars().skip(1).any(char::is_uppercase);
        let digits = self.surface.chars().any(|c| c.is_ascii_digit());
        let letters = self.surface.chars().any(char::is_alphabetic);
        (capital && !first) || inner || (digits && letters)
    }
}

/// The tokens of a sentence, in order. "don't" is "do" and "not"; "$4.2B" is "$" and "4.2b".
pub(super) fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    let mut rest = sentence;
    let mut after_break = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if c.is_alphanumeric() => word_length(rest),
            '$' | '€' | '£' | '%' | '~' | '#' | '+' | '≥' | '≤' | '<' | '>' | '=' => {
                first.len_utf8()
            }
            _ => {
                after_break |= matches!(first, ',' | '(' | ')' | ':' | '—' | '–' | '"' | '“' | '”');
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
                continue;
            }
        };
        let surface = rest.get(..length).unwrap_or(rest);
        rest = rest.get(length..).unwrap_or_default();
        push(surface, after_break, &mut found);
        after_break = false;
    }
    found
}

fn push<'text>(surface: &'text str, after_break: bool, found: &mut Vec<Token<'text>>) {
    let mut lower = surface.to_lowercase();
    if lower.contains('’') {
        lower = lower.replace('’', "'");
    }
    let (word, negated) = match lower.strip_suffix("n't") {
        Some("ca") => ("can", true),
        Some("wo") => ("will", true),
        Some(stem) => (stem, true),
        None if lower == "cannot" => ("can", true),
        None => (lower.split('\'').next().unwrap_or_default(), false),
    };
    let mut add = |word: &str, after_break| {
        let lower = word.to_owned();
        let mut stemmed = lower.clone();
        if word.chars().all(char::is_alphabetic) {
            stem(&mut stemmed);
        }
        found.push(Token { surface, lower, stem: stemmed, after_break });
    };
    if !word.is_empty() {
        add(word, after_break);
    }
    if negated {
        add("not", false);
    }
}

/// The bytes of the word at the start of `text`: letters and digits, and what joins them.
fn word_length(text: &str) -> usize {
    let mut previous = ' ';
    for (at, letter) in text.char_indices() {
        let next = text.get(at + letter.len_utf8()..).and_then(|rest| rest.chars().next());
        let followed = next.is_some_and(char::is_alphanumeric);
        let inside = letter.is_alphanumeric()
            || match letter {
                // "a.rs" and "api.example.com" are names, "done.Next" are two words.
                '.' if previous.is_alphabetic() => next.is_some_and(char::is_lowercase),
                '.' | ',' => previous.is_ascii_digit() && next.is_some_and(|c| c.is_ascii_digit()),
                ':' => previous.is_ascii_digit() && next.is_some_and(|c| c.is_ascii_digit()),
                '-' => {
                    followed
                        && !(previous.is_ascii_digit() && next.is_some_and(|c| c.is_ascii_digit()))
                        || is_date(text, at)
                }
                '\'' | '’' | '_' | '/' => followed,
                _ => false,
            };
        if !inside {
            return at;
        }
        previous = letter;
    }
    text.len()
}

/// Whether the hyphen at `at` joins a date such as 2026-03-01.
fn is_date(text: &str, at: usize) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    let parts: Vec<&str> = text.get(..end).unwrap_or_default().split('-').collect();
    at < end
        && parts.len() == 3
        && parts.iter().all(|part| digits(part))
        && parts.first().is_some_and(|year| year.len() == 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(sentence: &str) -> Vec<String> {
        tokens(sentence).into_iter().map(|token| token.lower).collect()
    }

    #[test]
    fn keeps_negations_numbers_and_names() {
        for (sentence, expected) in [
            ("It doesn't work", &["it", "does", "not", "work"][..]),
            (
                "We can’t; they won't, cannot",
                &["we", "can", "not", "they", "will", "not", "can", "not"],
            ),
            ("Costs $4.2B, 23% more", &["costs", "$", "4.2b", "23", "%", "more"]),
            (
                "10-20 ms on 2026-03-01 at 10:30",
                &["10", "20", "ms", "on", "2026-03-01", "at", "10:30"],
            ),
            ("Bob's service-a v1.2", &["bob", "service-a", "v1.2"]),
            ("1,000 rows", &["1,000", "rows"]),
            ("", &[]),
            ("🚀", &[]),
        ] {
            assert_eq!(lower(sentence), expected, "{sentence:?}");
        }
    }
}
