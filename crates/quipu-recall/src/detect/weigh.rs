//! What the learned scorer adds to the rules; `docs/detection.md` says what its numbers rest on. A rule that is
//! sure stays so. Where a rule is unsure, the scorer makes it surer or less sure, and where none applies
//! it gives a hint.

use std::{cell::OnceCell, ops::Range};

use super::{
    learned::{Encoded, scorer},
    options::SURENESS,
    statement::Statement,
    verdict::Clash,
};

/// Rules that are less or more sure than this are not weighed.
const WEIGHED: Range<f64> = 0.3..0.8;
/// How likely a contradiction must be for a clash to become surer, and by how much. What a rule alone does not
/// hold for a clash stays none: among our own pairs the scorer would open wrong ones.
const LIKELY: f64 = 0.95;
const SURER: f64 = 0.1;
/// How likely it must be for a clash not to become less sure, and what is left of it then.
const UNLIKELY: f64 = 0.1;
const LESS_SURE: f64 = 0.7;
/// How sure the scorer alone makes at most: far below what counts by default. It knows scenes, and of what
/// agents and people say to each other it finds too much.
pub(super) const HINT: f64 = 0.3;

/// The statements of one text, read by the scorer when they are first asked for.
pub(super) struct Readings<'s, 't> {
    pub(super) statements: &'s [Statement<'t>],
    read: Vec<OnceCell<Option<Encoded>>>,
}

impl<'s, 't> Readings<'s, 't> {
    pub(super) fn new(statements: &'s [Statement<'t>]) -> Self {
        Self { statements, read: statements.iter().map(|_| OnceCell::new()).collect() }
    }

    fn at(&self, at: usize) -> Option<&Encoded> {
        let statement = self.statements.get(at)?;
        self.read.get(at)?.get_or_init(|| scorer().encode(statement.sentence)).as_ref()
    }

    /// How likely one of these statements and one of the others contradict.
    pub(super) fn likely(&self, mine: usize, others: &Self, theirs: usize) -> Option<f64> {
        Some(scorer().score(self.at(mine)?, others.at(theirs)?))
    }
}

/// A clash by a rule, after asking the scorer where the rule is unsure.
pub(super) fn weighed(clash: Clash, likely: impl FnOnce() -> Option<f64>) -> Clash {
    if !WEIGHED.contains(&clash.sureness) {
        return clash;
    }
    match likely() {
        Some(likely) if likely < UNLIKELY => clash.weakened(LESS_SURE),
        Some(likely) if likely >= LIKELY && clash.sureness >= SURENESS => {
            let sureness = (clash.sureness + SURER).min(WEIGHED.end);
            Clash { sureness, ..clash }
        }
        Some(_) | None => clash,
    }
}

/// A clash that only the scorer sees: a hint for whoever asks for little sureness.
pub(super) fn hint(likely: f64) -> Clash {
    Clash { sureness: likely * HINT, what: "they read as a contradiction".to_owned() }
}
