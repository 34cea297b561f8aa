//! Chance that can be repeated: the same seed throws the same.

/// Throws numbers (xorshift64*).
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        // Of nothing nothing would come.
        Self(seed ^ 0x9e37_79b9_7f4a_7c15 | 1)
    }

    pub(crate) const fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below this one; 0 for 0.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        let most = u64::try_from(most).unwrap_or(u64::MAX).max(1);
        usize::try_from((self.bits() >> 11) % most).unwrap_or_default()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.bits().to_le_bytes()[7]
    }

    /// One of these; nothing of none.
    pub(crate) fn one_of<'t, T>(&mut self, these: &'t [T]) -> Option<&'t T> {
        these.get(self.below(these.len()))
    }
}
