//! The page that a story is written on: sentences are put down by importance while there is room, and read in the order of
//! the argument.

use std::collections::BTreeMap;

/// Characters of a story, but for its last sentence, which says what is left out.
pub(crate) const STORY_CHARS_MAX: usize = 6_000;

/// The parts of an argument, in the order in which it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Subject,
    Grounds,
    Shown,
    Beneath,
    Disputes,
    After,
    Task,
}

#[derive(Debug)]
pub(super) struct Page {
    sentences: BTreeMap<Part, Vec<String>>,
    left: usize,
}

impl Page {
    pub(super) const fn empty() -> Self {
        Self { sentences: BTreeMap::new(), left: STORY_CHARS_MAX }
    }

    /// Writes a sentence without its full stop, where it fits.
    pub(super) fn say(&mut self, part: Part, sentence: &str) -> bool {
        let sentence = sentence.trim_end_matches('.');
        let is_ended = sentence.ends_with(['?', '!', '…']);
        let sentence = format!("{sentence}{}", if is_ended { "" } else { "." });
        let length = sentence.chars().count() + 1;
        let fits = length <= self.left;
        if fits {
            self.left -= length;
            self.sentences.entry(part).or_default().push(sentence);
        }
        fits
    }

    /// The story, and last what is not in it.
    pub(super) fn finish(self, last: Option<String>) -> String {
        let sentences: Vec<String> = self.sentences.into_values().flatten().chain(last).collect();
        sentences.join(" ")
    }
}
