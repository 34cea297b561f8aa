//! Names in the same place: "the primary database is PostgreSQL" and "… is MySQL". Most verbs take many
//! objects (a service supports JSON and XML), so a different name is only a clash where the sentence says
//! that there is one.

use super::{
    overlap::Overlap,
    statement::{Statement, Topic},
};

/// Words that say there is one of a thing, by stem.
const ONE_OF_A_KIND: &[&str] = &[
    "activ", "author", "canon", "capit", "ceo", "chief", "chosen", "current", "cto", "deadlin",
    "default", "final", "head", "lead", "leader", "main", "manag", "master", "name", "offici",
    "own", "owner", "primari", "princip", "root", "select", "sole", "standard", "statu", "caus",
    "culprit", "winner",
];

/// Verbs after which there is usually one answer, by stem.
const ONE_ANSWER: &[&str] = &[
    "agre", "chose", "decid", "hire", "locat", "migrat", "name", "own", "pick", "prefer", "replac",
    "select", "settl", "standard", "switch", "belong", "born", "live", "written", "maintain",
    "led", "host", "deploy",
];

/// The two words that stand in the same place, and how likely only one of them can be right.
pub(super) fn rivals<'s>(
    a: &Statement<'_>,
    b: &Statement<'_>,
    overlap: &Overlap<'s>,
) -> Option<(&'s Topic, &'s Topic, f64)> {
    let left = in_place(a, &overlap.only_a)?;
    let right = in_place(b, &overlap.only_b)?;
    let kind = overlap.shared.iter().any(|topic| ONE_OF_A_KIND.contains(&topic.stem.as_str()));
    let verb = overlap.shared.iter().any(|topic| ONE_ANSWER.contains(&topic.stem.as_str()));
    let names = left.name && right.name;
    let copula = is_copula(a) && is_copula(b);
    let sureness = match (kind, verb, names, copula) {
        (true, _, true, _) | (true, _, _, true) => 0.85,
        (_, true, true, _) => 0.75,
        (_, true, false, _) => 0.6,
        (_, _, true, true) => 0.62,
        (true, _, false, false) => 0.6,
        (false, false, _, _) => 0.3,
    };
    Some((left, right, sureness))
}

/// Two names that both own, lead or chair the same one thing, where nothing else is said.
pub(super) fn owners<'s>(
    a: &Statement<'_>,
    b: &Statement<'_>,
    overlap: &Overlap<'s>,
) -> Option<(&'s Topic, &'s Topic)> {
    let ([left], [right]) = (overlap.only_a.as_slice(), overlap.only_b.as_slice()) else {
        return None;
    };
    let owns = |statement: &Statement<'_>, owner: &Topic| {
        let word = |at: usize| statement.tokens.get(at).map_or("", |token| token.lower.as_str());
        owner.at == 0
            && owner.surface.starts_with(char::is_uppercase)
            && matches!(word(1), "owns" | "leads" | "chairs")
            && matches!(word(2), "the" | "our")
            && !statement.polarity.negative
            && statement.quantities.is_empty()
            && statement.dates.is_empty()
    };
    (owns(a, left) && owns(b, right)).then_some((*left, *right))
}

/// The one word of the predicate that the other sentence does not have; a name may have two parts.
fn in_place<'s>(statement: &Statement<'_>, only: &[&'s Topic]) -> Option<&'s Topic> {
    let behind: Vec<_> = only.iter().filter(|topic| topic.at > statement.verb).collect();
    if behind.len() != only.len() {
        return None;
    }
    match behind.as_slice() {
        [one] => Some(one),
        // The first and the last name of a person.
        [first, second] if first.name && second.name && second.at == first.at + 1 => Some(first),
        _ => None,
    }
}

fn is_copula(statement: &Statement<'_>) -> bool {
    statement
        .tokens
        .iter()
        .any(|token| matches!(token.lower.as_str(), "is" | "are" | "was" | "were"))
}
