//! Owns which documents a reader may know of. Everything that is counted for a reader (how many
//! documents there are, how many share a word, how long they are) is counted over these alone, so
//! that what is hidden changes nothing.

use crate::index::lexical::slot;

/// A set of documents, by ordinal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// None where everything is seen.
    chosen: Option<Chosen>,
}

/// One bit for each ordinal, and how many bits are set before each word of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Chosen {
    bits: Vec<u64>,
    before: Vec<u32>,
    total: u32,
}

impl Seen {
    pub const ALL: Self = Self { chosen: None };

    /// Those among the first `ordinals` that `sees` names.
    pub fn only(ordinals: u32, sees: impl Fn(u32) -> bool) -> Self {
        let mut bits = vec![0_u64; slot(ordinals).div_ceil(64)];
        for ordinal in (0..ordinals).filter(|ordinal| sees(*ordinal)) {
            bits[slot(ordinal / 64)] |= 1 << (ordinal % 64);
        }
        let mut total = 0;
        let before = bits
            .iter()
            .map(|word| {
                let before = total;
                total += word.count_ones();
                before
            })
            .collect();
        Self { chosen: Some(Chosen { bits, before, total }) }
    }

    pub const fn is_all(&self) -> bool {
        self.chosen.is_none()
    }

    pub fn has(&self, ordinal: u32) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| {
            let word = chosen.bits.get(slot(ordinal / 64));
            word.is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
        })
    }

    /// How many of the first `ordinals` documents are seen.
    pub fn count(&self, ordinals: u32) -> u32 {
        let Some(chosen) = &self.chosen else { return ordinals };
        let at = slot(ordinals / 64);
        let (Some(word), Some(before)) = (chosen.bits.get(at), chosen.before.get(at)) else {
            return chosen.total;
        };
        before + (word & ((1 << (ordinals % 64)) - 1)).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_what_it_was_given_and_nothing_beyond() {
        let even = Seen::only(130, |ordinal| ordinal.is_multiple_of(2));
        assert!((0..130).all(|ordinal| even.has(ordinal) == ordinal.is_multiple_of(2)));
        assert!(!even.has(130) && !even.has(u32::MAX) && !even.is_all());
        assert!(Seen::ALL.has(u32::MAX) && Seen::ALL.is_all());
        assert!(!Seen::only(0, |_| true).has(0));
        for ordinals in 0..140 {
            assert_eq!(even.count(ordinals), ordinals.min(130).div_ceil(2), "{ordinals}");
            assert_eq!(Seen::ALL.count(ordinals), ordinals);
        }
    }
}
