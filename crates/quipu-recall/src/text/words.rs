//! Owns how text becomes terms: word boundaries, lower case, stop words, stems, cuts.
//! Documents and queries both go through here, so that they can meet.
//! Counts nothing and keeps nothing; `analyze` and `query` do.

use crate::{limits::MAX_WORD_BYTES, text::stem::stem};

/// English words that carry no topic, sorted. Some are what is left of "isn't" before the "t".
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are",
    "aren", "as", "at", "be", "because", "been", "before", "being", "below", "between", "both",
    "but", "by", "can", "could", "couldn", "did", "didn", "do", "does", "doesn", "doing", "don",
    "during", "each", "few", "for", "from", "further", "had", "hadn", "has", "hasn", "have",
    "haven", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into",
    "is", "isn", "it", "its", "just", "me", "more", "most", "my", "no", "nor", "not", "of", "off",
    "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own", "same", "she",
    "should", "shouldn", "so", "some", "such", "than", "that", "the", "their", "theirs", "them",
    "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until",
    "up", "very", "was", "wasn", "we", "were", "weren", "what", "when", "where", "which", "while",
    "who", "whom", "why", "will", "with", "would", "wouldn", "you", "your", "yours",
];

/// What may follow an apostrophe without being a word.
const CONTRACTIONS: &[&str] = &["d", "ll", "m", "re", "s", "t", "ve"];

/// The letters à to ÿ without their accents; "*" stands for those that have no plain letter.
const LATIN_1_PLAIN: &[u8; 32] = b"aaaaaa*ceeeeiiiidnooooo*ouuuuy*y";

/// Calls `each(surface, term)` for every word of `text` that is not a stop word, in order.
///
/// `surface` is the word as written, `term` what is indexed; both are at most
/// [`MAX_WORD_BYTES`] long. Runs in one pass with one buffer.
pub(crate) fn for_each_word(text: &str, mut each: impl FnMut(&str, &str)) {
    let mut term = String::with_capacity(MAX_WORD_BYTES);
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        if !first.is_alphanumeric() {
            before = Some(first);
            rest = skip(rest, first.len_utf8());
            continue;
        }
        let plain = plain_word(rest);
        let word = match plain {
            Some(word) => word,
            None if is_unspaced(first) => unspaced_run(rest),
            None => spaced_word(rest),
        };
        rest = skip(rest, word.len());
        if is_unspaced(first) {
            for_each_pair(word, &mut term, &mut each);
        } else {
            if plain.is_some() {
                term.clear();
                term.push_str(cut(word));
                term.make_ascii_lowercase();
            } else {
                fold(word, &mut term);
            }
            let contraction = matches!(before, Some('\'' | '’'))
                && CONTRACTIONS.binary_search(&term.as_str()).is_ok();
            if !term.is_empty() && !contraction && !is_stop_word(&term) {
                stem(&mut term);
                each(cut(word), &term);
            }
        }
        before = None;
    }
}

/// Whether `word`, in lower case, is too common to carry a topic.
fn is_stop_word(word: &str) -> bool {
    word.len() <= PACKED && PACKED_STOP_WORDS.binary_search(&packed(word.as_bytes())).is_ok()
}

/// Stop words have at most so many letters.
pub(crate) const PACKED: usize = 8;
/// The stop words as numbers, which are compared faster than texts, and in the same order.
const PACKED_STOP_WORDS: [u64; STOP_WORDS.len()] = {
    let mut numbers = [0; STOP_WORDS.len()];
    let mut at = 0;
    while at < numbers.len() {
        numbers[at] = packed(STOP_WORDS[at].as_bytes());
        at += 1;
    }
    numbers
};

/// The first letters as one number that sorts as they do.
pub(crate) const fn packed(word: &[u8]) -> u64 {
    if let Some(first) = word.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    // The first four and the last four say the same where they overlap.
    if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
        return (first as u64) << 32 | (last as u64) << (8 * (PACKED - word.len()));
    }
    let mut bytes = [0; PACKED];
    let mut at = 0;
    while at < word.len() {
        bytes[at] = word[at];
        at += 1;
    }
    u64::from_be_bytes(bytes)
}

/// The word at the start of a text, if it is of plain letters and digits and what follows ends it
/// whatever comes after that. Most words are.
fn plain_word(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let length = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let (word, behind) = bytes.split_at(length);
    // What may stand inside a number, and marks that are silent, are looked at more closely.
    let number = word.last().is_some_and(u8::is_ascii_digit);
    let ends =
        behind.first().is_none_or(|next| next.is_ascii() && !(number && b".,".contains(next)));
    text.get(..length).filter(|word| ends && !word.is_empty())
}

/// Scripts written without spaces, where a run of letters is not one word.
pub(crate) fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}'
        | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17FF}'
        | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// Marks that may stand inside a word without being letters: accents, joiners, soft hyphens.
fn is_silent(mark: char) -> bool {
    matches!(mark, '\u{0300}'..='\u{036F}' | '\u{00AD}' | '\u{200C}' | '\u{200D}' | '\u{FE0F}')
}

fn skip(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or_default()
}

fn unspaced_run(text: &str) -> &str {
    let end = text.find(|letter| !is_unspaced(letter) || !letter.is_alphanumeric());
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// The word at the start of `text`. "4.2b" and "1,000" are one word each, "1,2" are two.
fn spaced_word(text: &str) -> &str {
    let mut previous_is_digit = false;
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        let inside = if letter.is_alphanumeric() {
            !is_unspaced(letter)
        } else if previous_is_digit && letter == '.' {
            skip(text, at + 1).starts_with(|next: char| next.is_ascii_digit())
        } else if previous_is_digit && letter == ',' {
            groups_thousands(skip(text, at + 1))
        } else {
            is_silent(letter)
        };
        if !inside {
            end = at;
            break;
        }
        previous_is_digit = letter.is_ascii_digit();
    }
    text.get(..end).unwrap_or_default()
}

/// Whether exactly three digits follow a comma, as in "1,000".
fn groups_thousands(after_comma: &str) -> bool {
    let digits = after_comma.bytes().take(4).take_while(u8::is_ascii_digit).count();
    digits == 3
}

/// Writes the term of `word` before stemming into `term`: lower case, plain Latin letters, cut.
fn fold(word: &str, term: &mut String) {
    term.clear();
    for letter in word.chars() {
        if letter == ',' || is_silent(letter) {
            continue;
        }
        for lower in letter.to_lowercase().map(plain).filter(|lower| !is_silent(*lower)) {
            if term.len() + lower.len_utf8() > MAX_WORD_BYTES {
                return;
            }
            term.push(lower);
        }
    }
}

fn plain(letter: char) -> char {
    let index = u32::from(letter).checked_sub(0xE0).and_then(|at| usize::try_from(at).ok());
    match index.and_then(|at| LATIN_1_PLAIN.get(at)) {
        None | Some(b'*') => letter,
        Some(byte) => char::from(*byte),
    }
}

/// Overlapping pairs of letters stand in for words where there are no spaces.
fn for_each_pair(run: &str, term: &mut String, each: &mut impl FnMut(&str, &str)) {
    let mut ends = run.char_indices().map(|(at, letter)| at + letter.len_utf8()).skip(1).peekable();
    if ends.peek().is_none() {
        fold(run, term);
        each(run, term);
        return;
    }
    for ((start, _), end) in run.char_indices().zip(ends) {
        let pair = run.get(start..end).unwrap_or_default();
        fold(pair, term);
        each(pair, term);
    }
}

fn cut(word: &str) -> &str {
    word.get(..word.floor_char_boundary(MAX_WORD_BYTES)).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for_each_word(text, |_, term| found.push(term.to_owned()));
        found
    }

    #[test]
    fn the_word_lists_are_sorted_because_they_are_searched_by_halving() {
        assert!(STOP_WORDS.is_sorted() && PACKED_STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| word.len() <= PACKED && is_stop_word(word)));
        assert!(["", "thee", "betweens", "shouldnot"].iter().all(|word| !is_stop_word(word)));
        assert!(CONTRACTIONS.is_sorted());
    }

    #[test]
    fn splits_folds_and_stems() {
        for (text, expected) in [
            ("", &[][..]),
            ("the of and", &[]),
            ("Markets are GROWING!", &["market", "grow"]),
            ("$4.2B by 2027, up 23%.", &["4.2b", "2027", "23"]),
            ("1,000,000 users; rows 1,2,3", &["1000000", "user", "row", "1", "2", "3"]),
            ("at 127.0.0.1:7070.", &["127.0.0.1", "7070"]),
            ("isn't Bob's l'économie", &["bob", "l", "economi"]),
            ("cafe\u{301} café CAFÉ", &["cafe", "cafe", "cafe"]),
            ("fn get_user(id: u32) -> User", &["fn", "get", "user", "id", "u32", "user"]),
            ("🚀🚀 launch 🎉", &["launch"]),
            ("السوق ينمو", &["السوق", "ينمو"]),
            ("市場成長", &["市場", "場成", "成長"]),
            ("第 Q3市", &["第", "q3", "市"]),
            ("vitamin d", &["vitamin", "d"]),
            ("İstanbul", &["istanbul"]),
        ] {
            assert_eq!(terms(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_long_word_is_cut_at_a_letter() {
        let long = "é".repeat(100) + &"ж".repeat(100);
        for_each_word(&long, |surface, term| {
            assert!(surface.len() <= MAX_WORD_BYTES && term.len() <= MAX_WORD_BYTES);
        });
        assert_eq!(terms(&"q".repeat(1000)), ["q".repeat(MAX_WORD_BYTES)]);
    }

    #[test]
    fn the_surface_is_what_was_written() {
        let mut surfaces = Vec::new();
        for_each_word("Growing Économies, 1,000", |surface, _| surfaces.push(surface.to_owned()));
        assert_eq!(surfaces, ["Growing", "Économies", "1,000"]);
    }
}
