//! What a unit's text gives to the index, found once by whoever needs it first. Whoever sends a RECORD looks
//! for it while the writer waits for the disk; if the writer is faster, it looks itself.

use std::sync::OnceLock;

use quipu_recall::{Analyzed, analyze_with};

/// The text by which a unit can be found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Searchable {
    /// What it says, which is also what it means.
    pub content: String,
    /// Why it was recorded and what it answers.
    pub around: String,
}

impl Searchable {
    /// Its words and its meaning.
    #[must_use]
    pub fn analyze(&self) -> Analyzed {
        analyze_with(&self.content, &self.around)
    }
}

/// A text and what it gives to the index.
#[derive(Debug)]
pub struct UnitWords {
    text: Searchable,
    found: OnceLock<Analyzed>,
}

impl UnitWords {
    /// Of a text, not looked at yet.
    #[must_use]
    pub const fn new(text: Searchable) -> Self {
        Self { text, found: OnceLock::new() }
    }

    /// The words and the meaning. Waits where another thread is looking for them already.
    pub fn get(&self) -> &Analyzed {
        self.found.get_or_init(|| self.text.analyze())
    }
}
