//! Owns which documents a reader may know of. Everything that is counted for a reader (how many
//! documents there are, how many share a word, how long they are) is counted over these alone, so
//! that what is hidden changes nothing.

use crate::lexical::slot;

/// A set of documents, by ordinal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// One bit for each ordinal; none where everything is seen.
    bits: Option<Vec<u64>>,
}

impl Seen {
    /// Everything.
    pub const ALL: Self = Self { bits: None };

    /// Those among the first `ordinals` that `sees` names.
    pub fn only(ordinals: u32, sees: impl Fn(u32) -> bool) -> Self {
        let mut bits = vec![0_u64; slot(ordinals).div_ceil(64)];
        for ordinal in (0..ordinals).filter(|ordinal| sees(*ordinal)) {
            bits[slot(ordinal / 64)] |= 1 << (ordinal % 64);
        }
        Self { bits: Some(bits) }
    }

    /// Whether nothing is hidden.
    pub const fn is_all(&self) -> bool {
        self.bits.is_none()
    }

    /// Whether a document is seen.
    pub fn has(&self, ordinal: u32) -> bool {
        self.bits.as_ref().is_none_or(|bits| {
            bits.get(slot(ordinal / 64)).is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
        })
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
    }
}
