//! Random numbers from a printed seed, so that a failure can be run again.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A xorshift generator.
pub(crate) struct Dice(u64);

impl Dice {
    /// Seeded by `QUIPU_TEST_SEED`, or anew each time. Prints the seed.
    pub(crate) fn seeded() -> Self {
        let given = std::env::var_os("QUIPU_TEST_SEED")
            .and_then(|text| text.to_str().and_then(|text| text.parse().ok()));
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        println!("QUIPU_TEST_SEED={seed}");
        Self(seed | 1)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + self.0 % (high - low + 1)
    }
}
