//! Owns which tokens of a vocabulary a text is made of: the longest that fits, word by word.
//! Hand-written because the crate that does it brings more packages than this whole server has.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::pieces::for_each_piece;

/// A word longer than this many letters is unknown as a whole.
const MAX_WORD_LETTERS: usize = 100;
/// Marks a token that goes on with a word.
const CONTINUES: &str = "##";
const UNKNOWN: &str = "[UNK]";

type Tokens = HashMap<Box<str>, u32, BuildHasherDefault<Fnv>>;

/// A vocabulary of word pieces for lower-case text.
#[derive(Debug, Clone)]
pub struct WordPiece {
    starts: Tokens,
    continues: Tokens,
    unknown: Option<u32>,
    longest: usize,
}

impl WordPiece {
    /// A vocabulary: tokens in the order of their ids, from 0. Those that go on with a word begin
    /// with "##"; `[UNK]` stands for what is not known.
    pub fn new<'t>(vocabulary: impl IntoIterator<Item = &'t str>) -> Self {
        let (mut starts, mut continues) = (Tokens::default(), Tokens::default());
        let (mut unknown, mut longest) = (None, 0);
        for (id, token) in (0..).zip(vocabulary) {
            let (tokens, text) = match token.strip_prefix(CONTINUES) {
                Some(rest) if !rest.is_empty() => (&mut continues, rest),
                Some(_) | None => (&mut starts, token),
            };
            longest = longest.max(text.len());
            if token == UNKNOWN {
                unknown = Some(id);
            }
            tokens.insert(text.into(), id);
        }
        Self { starts, continues, unknown, longest }
    }

    /// The id of `[UNK]`, if the vocabulary has it.
    pub const fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// The id of a whole token, such as `[CLS]` or "##ing".
    pub fn id(&self, token: &str) -> Option<u32> {
        match token.strip_prefix(CONTINUES) {
            Some(rest) if !rest.is_empty() => self.continues.get(rest).copied(),
            Some(_) | None => self.starts.get(token).copied(),
        }
    }

    /// The ids of the first `limit` tokens of a text, without any that mark its start or end.
    pub fn ids(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        for_each_piece(text, |piece| {
            self.split(piece, &mut ids);
            ids.len() < limit
        });
        ids.truncate(limit);
        ids
    }

    /// Adds the tokens of one word; a word with any part unknown is unknown as a whole.
    fn split(&self, word: &str, ids: &mut Vec<u32>) {
        if let Some(&id) = self.starts.get(word) {
            ids.push(id);
            return;
        }
        let before = ids.len();
        let mut rest = word;
        while !rest.is_empty() {
            let tokens = if rest.len() == word.len() { &self.starts } else { &self.continues };
            match self.longest_start(rest, tokens) {
                Some((length, id)) if word.len() <= MAX_WORD_LETTERS || is_short(word) => {
                    ids.push(id);
                    rest = rest.get(length..).unwrap_or_default();
                }
                Some(_) | None => {
                    ids.truncate(before);
                    ids.extend(self.unknown);
                    return;
                }
            }
        }
    }

    fn longest_start(&self, text: &str, tokens: &Tokens) -> Option<(usize, u32)> {
        let mut end = text.floor_char_boundary(self.longest);
        while end > 0 {
            if let Some(&id) = tokens.get(text.get(..end)?) {
                return Some((end, id));
            }
            end = text.floor_char_boundary(end - 1);
        }
        None
    }
}

fn is_short(word: &str) -> bool {
    word.chars().nth(MAX_WORD_LETTERS).is_none()
}

/// FNV-1a: words are short and the vocabulary is ours, so nobody can make them collide on purpose.
#[derive(Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> WordPiece {
        WordPiece::new(["[PAD]", "[UNK]", "un", "##aff", "##able", "run", "!", "##", "a"])
    }

    #[test]
    fn takes_the_longest_token_that_fits() {
        let words = vocabulary();
        assert_eq!(words.ids("Unaffable run!", 10), [2, 3, 4, 5, 6]);
        assert_eq!(words.ids("runner unaff", 10), [1, 2, 3]);
        assert_eq!(words.ids("run run run", 2), [5, 5]);
        assert_eq!(
            (words.id("##able"), words.id("able"), words.unknown()),
            (Some(4), None, Some(1))
        );
    }

    #[test]
    fn a_word_of_more_than_a_hundred_letters_is_unknown() {
        let words = WordPiece::new(["[UNK]", "é", "e", "##e"]);
        assert_eq!(words.ids(&"e".repeat(100), 200).len(), 100);
        assert_eq!(words.ids(&"e".repeat(101), 200), [0]);
    }

    #[test]
    fn an_empty_vocabulary_gives_no_tokens() {
        assert!(WordPiece::new([]).ids("some text", 10).is_empty());
    }
}
