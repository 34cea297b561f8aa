//! Owns what of a text can be looked up in another one: its numbers, its dates, its names, and the phrases that carry
//! its topic. English and German; of scripts without capitals, numbers alone.

use std::collections::BTreeSet;

use crate::text::{
    months,
    sentences::sentences,
    words::{for_each_word, is_unspaced},
};

const WEEKDAYS: &[&str] = &[
    "dienstag",
    "donnerstag",
    "freitag",
    "friday",
    "mittwoch",
    "monday",
    "montag",
    "samstag",
    "saturday",
    "sonntag",
    "sunday",
    "thursday",
    "tuesday",
    "wednesday",
];
const NO_NAMES: &[&str] = &["i", "i'd", "i'll", "i'm", "i've", "ich", "sie", "ihr", "ihnen", "ok"];

/// What a text says that can be looked up, in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub numbers: BTreeSet<String>,
    pub dates: BTreeSet<String>,
    pub names: BTreeSet<String>,
}

impl Facts {
    /// Adds those of another text.
    pub fn extend(&mut self, other: Self) {
        self.numbers.extend(other.numbers);
        self.dates.extend(other.dates);
        self.names.extend(other.names);
    }
}

/// A text to look facts up in.
#[derive(Debug, Clone, Default)]
pub struct Plain(String);

impl Plain {
    #[must_use]
    pub fn new(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        Self(words.join(" ").to_lowercase())
    }

    /// Whether a fact stands in the text, and not within a longer word.
    #[must_use]
    pub fn says(&self, fact: &str) -> bool {
        let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !fact.is_empty()
            && self.0.match_indices(fact).any(|(at, found)| {
                let before = self.0.get(..at).and_then(|text| text.chars().next_back());
                let behind = self.0.get(at + found.len()..).and_then(|text| text.chars().next());
                !is_part(before) && !is_part(behind)
            })
    }
}

/// Reads what a text says that can be looked up, sentence by sentence.
#[must_use]
pub fn facts(text: &str) -> Facts {
    let mut facts = Facts::default();
    for sentence in sentences(text) {
        of_sentence(sentence, &mut facts);
    }
    facts
}

fn of_sentence(sentence: &str, facts: &mut Facts) {
    let words: Vec<&str> = sentence.split_whitespace().map(bare).collect();
    let mut at = 0;
    while at < words.len() {
        let rest = words.get(at..).unwrap_or_default();
        if let Some(length) = date(rest) {
            facts.dates.insert(joined(rest, length));
            at += length;
            continue;
        }
        let Some(word) = rest.first().filter(|word| !word.is_empty()) else {
            at += 1;
            continue;
        };
        if word.starts_with(|letter: char| letter.is_numeric()) {
            facts.numbers.insert(word.to_lowercase());
            at += 1;
            continue;
        }
        let length = rest.iter().take_while(|word| is_name(word)).count();
        // The first word of a sentence is written large whatever it is.
        let begins = at == 0 && length == 1 && !has_inner_capital(word);
        if length > 0 && !begins {
            facts.names.insert(joined(rest, length));
        }
        at += length.max(1);
    }
}

fn joined(words: &[&str], length: usize) -> String {
    words.get(..length).unwrap_or_default().join(" ").to_lowercase()
}

/// A word without the marks around it.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

/// How many words a date has that begins here, if one does.
fn date(words: &[&str]) -> Option<usize> {
    let first = words.first()?;
    let parts = first.split(['-', '/', '.']).filter(|part| !part.is_empty());
    let parts: Vec<bool> = parts.map(|part| part.bytes().all(|b| b.is_ascii_digit())).collect();
    if first.len() >= 6 && first.len() <= 10 && parts == [true, true, true] {
        return Some(1);
    }
    let at = |place: usize| words.get(place).copied().unwrap_or_default();
    if is_day(first) && is_month(at(1)) {
        return Some(if is_year(at(2)) { 3 } else { 2 });
    }
    if is_month(first) {
        let day = usize::from(is_day(at(1)));
        let length = 1 + day + usize::from(is_year(at(1 + day)));
        let is_whole = months::WHOLE.contains(&first.to_lowercase().as_str());
        let is_verb = matches!(*first, "May" | "March") && length == 1;
        return (length > 1 || is_whole && !is_verb).then_some(length);
    }
    let is_weekday = || {
        let word = first.to_lowercase();
        let word = word.strip_suffix('s').unwrap_or(&word);
        WEEKDAYS.contains(&word) && first.starts_with(char::is_uppercase)
    };
    (is_year(first) || is_weekday()).then_some(1)
}

fn is_month(word: &str) -> bool {
    let lower = word.to_lowercase();
    word.starts_with(char::is_uppercase)
        && (months::WHOLE.contains(&lower.as_str()) || months::SHORT.contains(&lower.as_str()))
}

fn is_day(word: &str) -> bool {
    let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let behind = word.get(digits.len()..).unwrap_or_default();
    matches!(behind, "" | "st" | "nd" | "rd" | "th")
        && digits.parse().is_ok_and(|day: u8| (1..=31).contains(&day))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse().is_ok_and(|year: u32| (1900..2100).contains(&year))
}

fn is_name(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
        && word.chars().nth(1).is_some()
        && !NO_NAMES.contains(&word.to_lowercase().as_str())
        && date(&[word]).is_none()
}

fn has_inner_capital(word: &str) -> bool {
    word.chars().skip(1).any(|letter| letter.is_uppercase() || letter.is_numeric())
}

/// A few words in a row that carry a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase<'a> {
    pub(crate) text: &'a str,
    pub(crate) terms: Vec<String>,
    /// Whether there is a figure or a name in it.
    pub(crate) is_fact: bool,
}

/// Words of a phrase at most.
const PHRASE_WORDS_MAX: usize = 4;

/// The phrases of a sentence: its words without those that carry no topic.
pub(crate) fn phrases(sentence: &str) -> Vec<Phrase<'_>> {
    let mut found: Vec<(Phrase<'_>, usize, usize)> = Vec::new();
    let mut from = 0;
    for_each_word(sentence, |surface, term| {
        let behind = sentence.get(from..).unwrap_or_default();
        let Some(start) = behind.find(surface).map(|at| from + at) else { return };
        let end = start + surface.len();
        let gap = sentence.get(from..start).unwrap_or_default();
        let is_fact = start > 0 && surface.starts_with(char::is_uppercase)
            || surface.starts_with(|letter: char| letter.is_numeric());
        from = end;
        let joins = matches!(gap, " " | "-") && !surface.starts_with(is_unspaced);
        match found.last_mut() {
            Some((last, first, last_end)) if joins && last.terms.len() < PHRASE_WORDS_MAX => {
                last.terms.push(term.to_owned());
                last.is_fact |= is_fact;
                *last_end = end;
                last.text = sentence.get(*first..end).unwrap_or_default();
            }
            _ => {
                let text = sentence.get(start..end).unwrap_or_default();
                let terms = vec![term.to_owned()];
                found.push((Phrase { text, terms, is_fact }, start, end));
            }
        }
    });
    found.into_iter().map(|(phrase, _, _)| phrase).collect()
}

/// A statement made into a question: it without its most telling word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cloze {
    pub asked: String,
    /// The word that was left out, in lower case.
    pub answer: String,
}

/// Words that a question needs besides the one that is left out.
const QUESTION_WORDS_MIN: usize = 3;

/// The questions that the statements of a text answer. Its most telling word is the first figure or name, else the longest.
#[must_use]
pub fn clozes(text: &str) -> Vec<Cloze> {
    let stated = sentences(text).into_iter().filter(|it| !it.ends_with(['?', '？', '؟']));
    stated.filter_map(cloze).collect()
}

fn cloze(sentence: &str) -> Option<Cloze> {
    let mut words: Vec<(String, bool)> = Vec::new();
    for_each_word(sentence, |surface, _| {
        let is_large = surface.starts_with(char::is_uppercase) && !words.is_empty();
        let is_fact = is_large || surface.starts_with(|letter: char| letter.is_numeric());
        words.push((surface.to_owned(), is_fact));
    });
    let longest = || {
        let lengths = words.iter().map(|(word, _)| word.chars().count()).enumerate();
        lengths.max_by_key(|(at, length)| (*length, std::cmp::Reverse(*at))).map(|(at, _)| at)
    };
    let key = words.iter().position(|(_, is_fact)| *is_fact).or_else(longest)?;
    let answer = words.get(key)?.0.to_lowercase();
    let rest = words.iter().filter(|(word, _)| word.to_lowercase() != answer);
    let rest: Vec<&str> = rest.map(|(word, _)| word.as_str()).collect();
    (rest.len() >= QUESTION_WORDS_MIN).then(|| Cloze { asked: rest.join(" "), answer })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(found: &BTreeSet<String>) -> Vec<&str> {
        found.iter().map(String::as_str).collect()
    }

    #[test]
    fn numbers_dates_and_names_are_told_apart() {
        let found = facts(
            "On 3 March 2026 Ada Lovelace paid 12.5% to Kiel. Am 30. März kommt PostgreSQL 17, \
             seit 2026-01-05. We may march on Friday with 40 ships.",
        );
        assert_eq!(listed(&found.numbers), ["12.5", "17", "40"]);
        assert_eq!(listed(&found.dates), ["2026-01-05", "3 march 2026", "30 märz", "friday"]);
        assert_eq!(listed(&found.names), ["ada lovelace", "kiel", "postgresql"]);
        assert_eq!(facts("氷のため。 . … \u{202e}"), Facts::default());
    }

    #[test]
    fn a_statement_without_its_most_telling_word_is_a_question() {
        let found = clozes(
            "The contract with Acme ends in spring. Does it? Ships wait outside the harbour.",
        );
        let answers: Vec<&str> = found.iter().map(|cloze| cloze.answer.as_str()).collect();
        assert_eq!(answers, ["acme", "outside"]);
        assert_eq!(found[0].asked, "contract ends spring");
        assert!(clozes("Yes. 30. …").is_empty());
    }

    #[test]
    fn a_fact_is_said_where_it_stands_alone() {
        let text = Plain::new("The fee is 40 per ship.\nKielers pay.");
        assert!(text.says("40") && text.says("per ship"));
        assert!(!text.says("4") && !text.says("kiel") && !text.says(""));
    }

    #[test]
    fn phrases_are_what_is_left_without_the_small_words() {
        let found = phrases("We went to the pottery workshop with 12 friends of Becky.");
        let texts: Vec<&str> = found.iter().map(|phrase| phrase.text).collect();
        assert_eq!(texts, ["went", "pottery workshop", "12 friends", "Becky"]);
        assert!(found[2].is_fact && found[3].is_fact && !found[1].is_fact);
    }
}
