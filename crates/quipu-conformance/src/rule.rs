//! The rule that a case checks: its name, its level, how binding it is, and the requirements it covers.

use std::fmt;

use serde::Serialize;

use crate::actors::{case::Case, check::Checked};

/// How binding a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// The protocol demands it. Only these decide the level reached.
    Must,
    /// The protocol recommends it.
    Should,
    /// The protocol is silent or contradicts itself; this is the reading that we recommend.
    Reading,
    /// An extension of Quipu that no other implementation needs.
    Ours,
}

impl Strength {
    /// The word of the report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Reading => "reading",
            Self::Ours => "ours",
        }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One case of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// `l<level>_<part>_<number>_<words>`; unique.
    pub name: &'static str,
    /// How binding it is.
    pub strength: Strength,
    /// The requirement ids, such as `REC-7`, parted by spaces.
    pub requirements: &'static str,
    /// One sentence.
    pub sentence: &'static str,
    pub(crate) needs: &'static [&'static str],
    pub(crate) check: fn(&mut Case) -> Checked,
}

impl Rule {
    /// The conformance level at which it begins to hold.
    pub fn level(&self) -> u8 {
        self.name.as_bytes().get(1).map_or(0, |digit| digit.saturating_sub(b'0'))
    }

    /// The same rule, which can only be tried where these operations are supported too.
    pub(crate) const fn needing(mut self, operations: &'static [&'static str]) -> Self {
        self.needs = operations;
        self
    }
}

/// A rule whose name is that of the function that checks it: `rule!(Must, name, "IDS", "Sentence.")`.
macro_rules! rule {
    ($strength:ident, $check:ident, $requirements:literal, $sentence:literal) => {
        $crate::rule::Rule {
            name: stringify!($check),
            strength: $crate::rule::Strength::$strength,
            requirements: $requirements,
            sentence: $sentence,
            needs: &[],
            check: $check,
        }
    };
}
pub(crate) use rule;
