//! How much of something a sentence speaks of: all of it, some, none. "Every test passed" and "some tests
//! failed" cannot both be right.

use super::token::Token;

/// How much is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// None of it, never.
    None,
    /// Some of it, sometimes.
    Some,
    /// All of it, always.
    All,
    /// This and nothing else.
    Only,
}

impl Extent {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Some => "some",
            Self::All => "all",
            Self::Only => "only",
        }
    }
}

/// The strongest quantifier of a sentence and where it stands, if it has one.
pub(super) fn extent(tokens: &[Token<'_>]) -> Option<(Extent, usize)> {
    let found = tokens.iter().enumerate().filter_map(|(at, token)| {
        let extent = match token.lower.as_str() {
            "all" | "always" | "each" | "entire" | "every" | "everyone" | "everything"
            | "everywhere" => Extent::All,
            "never" | "nobody" | "none" | "nothing" | "nowhere" | "zero" => Extent::None,
            "few" | "several" | "some" | "someone" | "sometimes" | "occasionally" | "often"
            | "partly" | "partially" | "rarely" => Extent::Some,
            "exclusively" | "only" | "solely" => Extent::Only,
            _ => return None,
        };
        // "after all", "at all", "all in all" quantify nothing.
        let before = at.checked_sub(1).and_then(|b| tokens.get(b)).map_or("", |t| t.lower.as_str());
        let idle =
            matches!((before, token.lower.as_str()), ("at" | "after" | "not", "all" | "only"));
        (!idle).then_some((extent, at))
    });
    found.max_by_key(|(extent, at)| (*extent != Extent::Some, std::cmp::Reverse(*at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::token::tokens;

    #[test]
    fn the_strongest_quantifier_counts() {
        for (sentence, expected) in [
            ("Every test passed", Some(Extent::All)),
            ("Some tests failed", Some(Extent::Some)),
            ("It never fails", Some(Extent::None)),
            ("It works at all", None),
            ("It works", None),
        ] {
            assert_eq!(extent(&tokens(sentence)).map(|found| found.0), expected, "{sentence}");
        }
    }
}
