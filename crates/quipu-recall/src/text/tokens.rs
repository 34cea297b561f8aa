//! Owns how long a text is to a language model: tokens of an encoding.
//! The tables are built on first use and shared; every count is linear in the text.
//! The encoder takes up to a microsecond a byte on rules such as "-----", which people do write,
//! so repeated pieces are counted once and long runs of one character by their period.

use std::collections::HashMap;

use bpe_openai::{Tokenizer, cl100k_base, o200k_base};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// The one of newer models.
    #[default]
    O200k,
    /// The one before it.
    Cl100k,
}

/// The longest token of any encoding.
const MAX_TOKEN_BYTES: usize = 128;
/// A run of one character is counted by its period from this length on.
const LONG_RUN_BYTES: usize = 16 * MAX_TOKEN_BYTES;
/// A piece is worth remembering from this length on; words are shorter and cheap.
const REMEMBERED_BYTES: usize = 24;

/// The number of tokens of `text` in the default encoding.
pub fn count(text: &str) -> usize {
    Encoding::default().count(text)
}

/// As [`Encoding::count_within`], in the default encoding.
pub fn count_within(text: &str, limit: usize) -> Option<usize> {
    Encoding::default().count_within(text, limit)
}

impl Encoding {
    /// The number of tokens of `text`.
    pub fn count(self, text: &str) -> usize {
        self.count_within(text, usize::MAX).unwrap_or(usize::MAX)
    }

    /// The number of tokens where it is at most `limit`. Stops early where it is not, so that a
    /// question about a huge text and a small limit is cheap.
    pub fn count_within(self, text: &str, limit: usize) -> Option<usize> {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut left = limit;
        for piece in self.tables().split(text) {
            if piece.len() / MAX_TOKEN_BYTES > left {
                return None;
            }
            let tokens = if piece.len() < REMEMBERED_BYTES {
                self.count_bytes(piece.as_bytes())
            } else {
                *seen.entry(piece).or_insert_with(|| self.count_long(piece.as_bytes()))
            };
            left = left.checked_sub(tokens)?;
        }
        Some(limit - left)
    }

    /// Counts a piece of any length.
    ///
    /// Merging a run of one character doubles equal blocks from the left until no longer token exists,
    /// and only the few blocks at the right end depend on the run's length. Blocks are powers of two
    /// that divide [`MAX_TOKEN_BYTES`], so that many bytes more always add the same number of tokens.
    fn count_long(self, piece: &[u8]) -> usize {
        let Some((first, rest)) = piece.split_first() else { return 0 };
        if piece.len() < LONG_RUN_BYTES || rest.iter().any(|byte| byte != first) {
            return self.count_bytes(piece);
        }
        let base = LONG_RUN_BYTES / 2 + piece.len() % MAX_TOKEN_BYTES;
        let periods = (piece.len() - base) / MAX_TOKEN_BYTES;
        let start = |length| self.count_bytes(piece.get(..length).unwrap_or(piece));
        let of_base = start(base);
        of_base + periods * (start(base + MAX_TOKEN_BYTES) - of_base)
    }

    fn count_bytes(self, piece: &[u8]) -> usize {
        self.tables().bpe.count(piece)
    }

    fn tables(self) -> &'static Tokenizer {
        match self {
            Self::O200k => o200k_base(),
            Self::Cl100k => cl100k_base(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Encoding; 2] = [Encoding::O200k, Encoding::Cl100k];

    #[test]
    fn no_token_is_longer_than_the_bound() {
        for encoding in ALL {
            let bpe = &encoding.tables().bpe;
            let tokens = u32::try_from(bpe.num_tokens()).unwrap();
            let longest = (0..tokens).map(|token| bpe.token_len(token)).max();
            assert_eq!(longest, Some(MAX_TOKEN_BYTES));
        }
    }

    #[test]
    fn a_long_run_counted_by_its_period_is_what_the_encoder_counts() {
        for encoding in ALL {
            for byte in b"-=*#/ _.a0\n" {
                for length in (LONG_RUN_BYTES..LONG_RUN_BYTES + 2 * MAX_TOKEN_BYTES).step_by(23) {
                    let run = vec![*byte; length];
                    assert_eq!(
                        encoding.count_long(&run),
                        encoding.count_bytes(&run),
                        "{length} of {byte}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_encodings_count_differently() {
        let text = "Überraschungspaket 市場成長";
        assert!(Encoding::O200k.count(text) < Encoding::Cl100k.count(text));
        assert_eq!(Encoding::Cl100k.count_within(text, 3), None);
    }
}
