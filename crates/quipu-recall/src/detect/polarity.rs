//! Whether a sentence affirms or denies, and what it denies.

use super::token::Token;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Polarity {
    /// Whether it denies more than it affirms: two denials affirm.
    pub(super) negative: bool,
    /// The stems of what stands behind a denial, nearest first, a few for each.
    pub(super) denied: Vec<String>,
    /// Whether it only says that its author does not know.
    pub(super) unsure: bool,
    /// Tokens that make it negative, so that they are not taken for topics.
    pub(super) marks: Vec<usize>,
}

const DENIALS: &[&str] = &["neither", "never", "no", "nobody", "none", "nor", "not", "nothing"];

/// Verbs that deny what follows, by stem.
const DENYING_VERBS: &[&str] =
    &["avoid", "fail", "lack", "miss", "prevent", "refus", "reject", "stop", "unabl"];

pub(super) fn polarity(tokens: &[Token<'_>]) -> Polarity {
    let mut found = Polarity::default();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map_or("", |token| token.lower.as_str());
        let verb = DENYING_VERBS.contains(&token.stem.as_str()) && next == "to"
            || token.stem == "lack"
            || token.lower == "unable";
        if !verb && !DENIALS.contains(&token.lower.as_str()) {
            continue;
        }
        if is_idiom(&token.lower, next) {
            continue;
        }
        if matches!(next, "sure" | "certain" | "know" | "clear" | "think" | "remember") {
            found.unsure = true;
        }
        found.negative = !found.negative;
        found.marks.push(at);
        let behind = tokens.get(at + 1..).unwrap_or_default().iter();
        let denied = behind.take_while(|token| !token.after_break).take(6);
        let denied = denied.filter(|token| !super::words::is_function(&token.lower)).take(3);
        found.denied.extend(denied.map(|token| token.stem.clone()));
    }
    found
}

/// Words that deny in form only: "not only" and "no doubt" affirm, "can't wait" is joy.
fn is_idiom(denial: &str, next: &str) -> bool {
    match denial {
        "not" => matches!(next, "only" | "just" | "wait" | "bad" | "to" | "a" | "least"),
        "no" => matches!(
            next,
            "doubt"
                | "matter"
                | "need"
                | "one"
                | "problem"
                | "way"
                | "wonder"
                | "worries"
                | "worry"
        ),
        "nothing" => next == "but",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::token::tokens;

    #[test]
    fn a_denial_is_negative_and_two_affirm() {
        for (sentence, negative) in [
            ("It works", false),
            ("It does not work", true),
            ("It doesn't work", true),
            ("It never fails to work", false),
            ("It failed to start", true),
            ("Not only does it work", false),
            ("There is no cache", true),
            ("It runs without a cache", false),
        ] {
            assert_eq!(polarity(&tokens(sentence)).negative, negative, "{sentence}");
        }
        assert!(polarity(&tokens("I am not sure it works")).unsure);
        assert_eq!(polarity(&tokens("It does not support refunds")).denied, ["support", "refund"]);
    }
}
