//! The texts by which a unit can be found. What an index makes of them is no part of the rules.

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
    #[must_use]
    pub fn analyze(&self) -> Analyzed {
        analyze_with(&self.content, &self.around)
    }
}
