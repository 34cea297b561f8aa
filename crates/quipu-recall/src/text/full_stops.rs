//! Owns whether a full stop ends a sentence: in English and in German it also stands in abbreviations, ordinals and
//! dates, behind initials and within numbers.

use super::months;

/// Words that end in a full stop without ending a sentence, in lower case.
const ABBREVIATIONS: &[&str] = &[
    "approx", "aufl", "betr", "bspw", "bzgl", "bzw", "ca", "cf", "dept", "dgl", "dipl", "dr",
    "ebd", "e.g", "einschl", "engl", "est", "evtl", "exkl", "fa", "geb", "ggf", "gov", "hrsg",
    "i.e", "inkl", "ing", "insb", "jh", "jhd", "lt", "mio", "mr", "mrd", "mrs", "ms", "mt", "mtl",
    "o.ä", "o.g", "prof", "resp", "rev", "s.o", "s.u", "sog", "st", "tel", "u.a", "u.u", "v.a",
    "vgl", "viz", "vs", "z.b", "z.t", "d.h", "zzgl", "zzt", "zus",
];

/// Abbreviations that may also be a sentence's last word: they end it where the next word begins one.
const LAST_WORDS: &[&str] = &[
    "a.d", "a.m", "ag", "al", "b.c", "co", "corp", "etc", "gmbh", "inc", "jr", "ltd", "p.m", "sr",
    "u.k", "u.s", "usf", "usw",
];

/// Abbreviations only before a figure: elsewhere they are words.
const BEFORE_FIGURES: &[&str] = &[
    "abs", "apr", "art", "aug", "bd", "ch", "dec", "dez", "feb", "fig", "figs", "jan", "jul",
    "jun", "kap", "mar", "max", "min", "mind", "mär", "no", "nos", "nov", "nr", "oct", "okt", "p",
    "pos", "pp", "s", "sec", "sect", "sep", "sept", "vol", "ziff",
];

/// What stands before an ordinal in German: "der 3. Versuch", "am 30. März".
const BEFORE_ORDINALS: &[&str] = &[
    "ab", "am", "beim", "bis", "das", "dem", "den", "der", "des", "die", "ein", "eine", "einem",
    "einen", "einer", "eines", "im", "ins", "jede", "jedem", "jeden", "jeder", "jedes", "seit",
    "vom", "zum", "zur",
];

/// Words that begin sentences, so that a single capital before them is no initial.
const OPENERS: &[&str] = &[
    "a", "aber", "all", "an", "and", "as", "at", "but", "das", "dem", "den", "der", "die", "dies",
    "diese", "ein", "eine", "er", "es", "for", "he", "i", "if", "ich", "ihr", "in", "is", "it",
    "its", "no", "nor", "on", "or", "our", "she", "sie", "so", "that", "the", "their", "then",
    "there", "these", "they", "this", "those", "to", "und", "we", "wenn", "what", "when", "who",
    "will", "wir", "yes", "you",
];

/// Whether the full stop between two parts of a text ends a sentence. What is behind it begins with whitespace, or there
/// is nothing.
pub(super) fn ends_here(before: &str, behind: &str) -> bool {
    let mut words =
        before.rsplit(|letter: char| letter.is_whitespace() || "([\"'„“‚".contains(letter));
    let last = words.next().unwrap_or_default();
    let previous = words.find(|word| !word.is_empty()).unwrap_or_default();
    let next = behind.trim_start();
    if last.is_empty() || next.is_empty() || behind.starts_with('\n') {
        return true;
    }
    let next_word: String = next.chars().take_while(|letter| letter.is_alphanumeric()).collect();
    let begins = begins_sentence(next);
    if last.chars().all(|letter| letter.is_ascii_digit()) {
        return !is_ordinal(last, previous, &next_word, begins);
    }
    if last.chars().count() > 8 {
        return true;
    }
    let word = last.to_lowercase();
    if is_one_of(&word, ABBREVIATIONS) {
        return false;
    }
    if is_one_of(&word, BEFORE_FIGURES) && next.starts_with(|letter: char| letter.is_numeric()) {
        return false;
    }
    if is_one_of(&word, LAST_WORDS) {
        return begins;
    }
    !is_initial(last, previous, &next_word)
}

/// "am 30. März", "der 3. Versuch": a small number that counts, not one that a sentence ends with.
fn is_ordinal(number: &str, previous: &str, next_word: &str, next_begins: bool) -> bool {
    if number.len() > 3 || next_word.is_empty() {
        return false;
    }
    let next = next_word.to_lowercase();
    let is_listed = previous.is_empty();
    is_listed
        || !next_begins
        || is_one_of(&next, months::WHOLE)
        || is_one_of(&next, months::SHORT)
        || is_one_of(&previous.to_lowercase(), BEFORE_ORDINALS) && !is_one_of(&next, OPENERS)
}

/// A letter that stands for a name or a word: "J. Smith", "z. B. Berlin".
fn is_initial(last: &str, previous: &str, next_word: &str) -> bool {
    let own = last.rsplit('.').next().unwrap_or_default();
    let mut letters = own.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return false };
    if !letter.is_alphabetic() || !has_case(letter) {
        return false;
    }
    if letter.is_lowercase() {
        return true;
    }
    if previous.ends_with('.') && previous.chars().count() <= 3 {
        return true;
    }
    letter != 'I' && !is_one_of(&next_word.to_lowercase(), OPENERS)
}

/// Whether a text may be the beginning of a sentence.
fn begins_sentence(text: &str) -> bool {
    let first = text.chars().find(|letter| letter.is_alphanumeric());
    first.is_some_and(|letter| !letter.is_lowercase())
}

fn has_case(letter: char) -> bool {
    letter.is_lowercase() || letter.is_uppercase()
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.contains(&word)
}
