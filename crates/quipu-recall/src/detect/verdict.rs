//! What one comparison of two statements found, and how it is said in words.

use super::statement::Statement;

/// The longest part of a sentence that a reason repeats, in characters.
const QUOTED_CHARS: usize = 160;

/// Two statements that do not fit together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clash {
    /// How sure, from 0 to 1.
    pub(super) sureness: f64,
    /// What differs, in words.
    pub(super) what: String,
}

impl Clash {
    /// The same, less sure.
    pub(super) fn weakened(self, factor: f64) -> Self {
        Self { sureness: self.sureness * factor, ..self }
    }

    /// The whole reason: both sentences, and what differs between them.
    pub(super) fn reason(&self, older: &Statement<'_>, newer: &Statement<'_>) -> String {
        let (older, newer) = (quoted(older.sentence), quoted(newer.sentence));
        format!("“{older}” against “{newer}”: {} (sure to {:.2})", self.what, self.sureness)
    }
}

fn quoted(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches(['.', ';', '!']);
    match sentence.char_indices().nth(QUOTED_CHARS) {
        None => sentence.to_owned(),
        Some((end, _)) => format!("{}…", sentence.get(..end).unwrap_or_default().trim_end()),
    }
}
