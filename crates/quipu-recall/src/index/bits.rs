//! Owns a set of ordinals as one bit each: quickly asked, and in order when it is gone through.

use crate::index::lexical::slot;

/// A set of ordinals below a bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Those of `members` that are below `ordinals`.
    pub(crate) fn new(ordinals: usize, members: impl Iterator<Item = u32>) -> Self {
        let mut words = vec![0_u64; ordinals.div_ceil(64)];
        for ordinal in members.filter(|ordinal| slot(*ordinal) < ordinals) {
            words[slot(ordinal / 64)] |= 1 << (ordinal % 64);
        }
        Self { words }
    }

    /// Whether an ordinal is in the set.
    pub(crate) fn has(&self, ordinal: u32) -> bool {
        let word = self.words.get(slot(ordinal / 64)).copied().unwrap_or(0);
        word >> (ordinal % 64) & 1 == 1
    }

    /// The ordinals, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.words).flat_map(|(place, word)| ones(place, *word))
    }

    /// Those that are also among others, ascending. The others are one bit each, too: 64 at a time.
    pub(crate) fn common(&self, others: &[u64]) -> impl Iterator<Item = u32> {
        let words = self.words.iter().zip(others);
        (0_u32..).zip(words).flat_map(|(place, (word, other))| ones(place, word & other))
    }
}

/// The ordinals of the bits of one word, ascending.
fn ones(place: u32, word: u64) -> impl Iterator<Item = u32> {
    let next = |left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
    let lefts = std::iter::successors(Some(word).filter(|word| *word != 0), next);
    lefts.map(move |left| place * 64 + left.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_its_members_in_order_and_nothing_beyond_its_bound() {
        let members = [64, 3, 129, 130, 0, 63, u32::MAX, 3];
        let bits = Bits::new(130, members.into_iter());
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 3, 63, 64, 129]);
        assert!((0..200).all(|at| bits.has(at) == [0, 3, 63, 64, 129].contains(&at)));
        let others = [1 << 3 | 1 << 62, u64::MAX, 0, u64::MAX];
        assert_eq!(bits.common(&others).collect::<Vec<_>>(), [3, 64]);
        assert_eq!(bits.common(&others[..1]).collect::<Vec<_>>(), [3]);
        assert_eq!(Bits::new(0, members.into_iter()).iter().count(), 0);
    }
}
