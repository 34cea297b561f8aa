//! Owns the short tokens of a vocabulary as numbers: most words of a text are one of them as a whole, and are found at
//! one place instead of letter by letter. Knows no text.

use crate::text::words::{PACKED, packed};

/// Tokens of at most eight bytes by the number that their bytes make.
#[derive(Debug, Clone)]
pub(super) struct ShortWords {
    /// Number and id; the number 0 stands for none. The number of places is a power of two, and most of them are empty.
    places: Vec<(u64, u32)>,
}

impl ShortWords {
    /// Of tokens and their ids. Of two that are the same, the later one counts.
    pub(super) fn new(tokens: &[(&str, u32)]) -> Self {
        let short: Vec<(u64, u32)> =
            tokens.iter().filter_map(|(token, id)| Some((number(token)?, *id))).collect();
        let places = (short.len() * 2 + 1).next_power_of_two();
        let mut words = Self { places: vec![(0, 0); places] };
        for (number, id) in short {
            let place = words.place(number);
            words.places[place] = (number, id);
        }
        words
    }

    /// The id of a whole token, if it is a short one.
    pub(super) fn id(&self, token: &str) -> Option<u32> {
        let number = number(token)?;
        let (found, id) = self.places[self.place(number)];
        (found == number).then_some(id)
    }

    /// Where a number is, or would be.
    fn place(&self, number: u64) -> usize {
        let mask = self.places.len() - 1;
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(20);
        let mut at = usize::try_from(mixed & u64::from(u32::MAX)).unwrap_or_default() & mask;
        while self.places[at].0 != number && self.places[at].0 != 0 {
            at = (at + 1) & mask;
        }
        at
    }
}

/// The number of a text that is short enough. A zero in it could not be told from its end.
fn number(text: &str) -> Option<u64> {
    if !(1..=PACKED).contains(&text.len()) {
        return None;
    }
    let number = packed(text.as_bytes());
    // All eight bytes at once, those behind the text filled: a byte that was 0 is the lowest that borrows.
    let filled = number | u64::MAX.checked_shr(bits(text.len())).unwrap_or(0);
    let has_zero = filled.wrapping_sub(LOWEST_BITS) & !filled & HIGHEST_BITS != 0;
    (!has_zero).then_some(number)
}

/// The lowest and the highest bit of each byte.
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;
const HIGHEST_BITS: u64 = 0x8080_8080_8080_8080;

fn bits(bytes: usize) -> u32 {
    u32::try_from(bytes * 8).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_short_tokens_and_nothing_else(
            tokens in prop::collection::vec("[abé\0]{0,9}", 0..60),
            text in "[abé\0]{0,9}",
        ) {
            let tokens: Vec<(&str, u32)> = tokens.iter().map(String::as_str).zip(0..).collect();
            let words = ShortWords::new(&tokens);
            for wanted in tokens.iter().map(|(token, _)| *token).chain([text.as_str()]) {
                let short = (1..=8).contains(&wanted.len()) && !wanted.contains('\0');
                let id = tokens.iter().rev().find(|(token, _)| *token == wanted && short);
                prop_assert_eq!(words.id(wanted), id.map(|(_, id)| *id), "{:?}", wanted);
            }
        }
    }
}
