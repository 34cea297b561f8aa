//! The words of a unit's text, found once by whoever needs them first. Whoever sends a RECORD looks for
//! them while the writer waits for the disk; if the writer is faster, it looks itself.

use std::sync::OnceLock;

use quipu_recall::{Analyzed, analyze};

/// A text and its words.
#[derive(Debug)]
pub struct UnitWords {
    text: String,
    found: OnceLock<Analyzed>,
}

impl UnitWords {
    /// The words of a text, not looked for yet.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self { text, found: OnceLock::new() }
    }

    /// The words. Waits where another thread is looking for them already.
    pub fn get(&self) -> &Analyzed {
        self.found.get_or_init(|| analyze(&self.text))
    }
}
