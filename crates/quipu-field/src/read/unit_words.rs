//! What the texts of units give to the index, found once by whoever needs it first. Whoever sends a RECORD looks
//! for it while the writer waits for the disk; if the writer is faster, it looks itself.

use std::sync::{Arc, OnceLock};

use quipu_core::searchable::Searchable;
use quipu_recall::Analyzed;

pub(crate) type CommitWords = Arc<[UnitWords]>;

#[derive(Debug)]
pub(crate) struct UnitWords {
    text: Searchable,
    found: OnceLock<Analyzed>,
}

impl UnitWords {
    /// Of a text, not looked at yet.
    #[must_use]
    pub(crate) const fn new(text: Searchable) -> Self {
        Self { text, found: OnceLock::new() }
    }

    /// The words and the meaning. Waits where another thread is looking for them already.
    pub(crate) fn get(&self) -> &Analyzed {
        self.found.get_or_init(|| self.text.analyze())
    }
}
