//! Owns which tokens of a vocabulary a text is made of: the longest that fits, word by word.
//! Hand-written because the crate that does it brings more packages than this whole server has.

use super::{pieces::for_each_piece, short_words::ShortWords, token_tree::TokenTree};

/// A word longer than this many letters is unknown as a whole.
const MAX_WORD_LETTERS: usize = 100;
/// Marks a token that goes on with a word.
const CONTINUES: &str = "##";
const UNKNOWN: &str = "[UNK]";
/// Letters of a token, about: how much room is made for them.
const TOKEN_LETTERS: usize = 4;

/// A vocabulary of word pieces for lower-case text.
#[derive(Debug, Clone)]
pub struct WordPiece {
    short: ShortWords,
    starts: TokenTree,
    continues: TokenTree,
    unknown: Option<u32>,
}

impl WordPiece {
    /// A vocabulary: tokens in the order of their ids, from 0. Those that go on with a word begin
    /// with "##"; `[UNK]` stands for what is not known.
    pub fn new<'t>(vocabulary: impl IntoIterator<Item = &'t str>) -> Self {
        let (mut starts, mut continues, mut unknown) = (Vec::new(), Vec::new(), None);
        for (id, token) in (0..).zip(vocabulary) {
            match token.strip_prefix(CONTINUES) {
                Some(rest) if !rest.is_empty() => continues.push((rest, id)),
                Some(_) | None => starts.push((token, id)),
            }
            if token == UNKNOWN {
                unknown = Some(id);
            }
        }
        let short = ShortWords::new(&starts);
        let (starts, continues) = (TokenTree::new(&starts), TokenTree::new(&continues));
        Self { short, starts, continues, unknown }
    }

    /// The id of `[UNK]`, if the vocabulary has it.
    pub const fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// The id of a whole token, such as `[CLS]` or "##ing".
    pub fn id(&self, token: &str) -> Option<u32> {
        match token.strip_prefix(CONTINUES) {
            Some(rest) if !rest.is_empty() => self.continues.id(rest),
            Some(_) | None => self.starts.id(token),
        }
    }

    /// The ids of the first `limit` tokens of a text, without any that mark its start or end.
    pub fn ids(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::with_capacity(limit.min(text.len() / TOKEN_LETTERS + 1));
        for_each_piece(text, |piece| {
            self.split(piece, &mut ids);
            ids.len() < limit
        });
        ids.truncate(limit);
        ids
    }

    /// Adds the tokens of one word; a word with any part unknown is unknown as a whole.
    fn split(&self, word: &str, ids: &mut Vec<u32>) {
        // No token that fits is longer than the whole word.
        if let Some(id) = self.short.id(word) {
            ids.push(id);
            return;
        }
        let before = ids.len();
        let (mut rest, mut tokens) = (word, &self.starts);
        while !rest.is_empty() {
            match tokens.longest_start(rest) {
                Some((length, id)) if length == word.len() || !is_long(word) => {
                    ids.push(id);
                    rest = rest.get(length..).unwrap_or_default();
                    tokens = &self.continues;
                }
                Some(_) | None => {
                    ids.truncate(before);
                    ids.extend(self.unknown);
                    return;
                }
            }
        }
    }
}

fn is_long(word: &str) -> bool {
    word.len() > MAX_WORD_LETTERS && word.chars().nth(MAX_WORD_LETTERS).is_some()
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
