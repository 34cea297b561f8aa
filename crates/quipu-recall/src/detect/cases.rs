//! Whether two statements speak of different cases: another module, host, file, run, page or time of
//! day. Both may then be right, however alike they look, so a doubt here is the end of a clash.

use super::{
    overlap::Overlap,
    statement::{Statement, Topic},
    token::Token,
};

/// Words before a phrase that says where, when or for whom a statement holds.
const LOCATING: &[&str] = &[
    "across", "after", "against", "at", "before", "between", "by", "during", "for", "from", "in",
    "inside", "into", "of", "on", "over", "per", "to", "towards", "under", "until", "using", "via",
    "when", "while", "with", "within", "without",
];

/// How many tokens behind such a word still belong to its phrase.
const PHRASE: usize = 4;

/// Words that name no other case, by stem: "the launch" is on "the launch date".
const NEUTRAL: &[&str] = &[
    "actual", "amount", "count", "current", "date", "exact", "least", "most", "figur", "level",
    "new", "now", "number", "overal", "total", "updat", "valu", "whole",
];

const ORDINALS: &[&str] = &[
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "last", "next", "previous",
];

/// Nouns whose number is a setting and no name even behind "on" or "of", by stem.
const SETTINGS: &[&str] = &[
    "build",
    "code",
    "limit",
    "number",
    "port",
    "prioriti",
    "rate",
    "retri",
    "score",
    "size",
    "statu",
    "threshold",
    "timeout",
    "version",
    "java",
    "python",
    "releas",
];

/// Where the statements have names, letters, ordinals or numbers that tell cases apart, and these differ.
pub(super) fn differ_by_name(a: &Statement<'_>, b: &Statement<'_>, overlap: &Overlap<'_>) -> bool {
    let qualified = |only: &[&Topic]| only.iter().any(|topic| topic.qualifier);
    let subject = |statement: &Statement<'_>, only: &[&Topic]| {
        only.iter()
            .any(|topic| topic.at < statement.verb && (topic.name || is_subject(statement, topic)))
    };
    (qualified(&overlap.only_a) && qualified(&overlap.only_b))
        || (subject(a, &overlap.only_a) && subject(b, &overlap.only_b))
        || both_and_other(&numbered(a), &numbered(b))
        || both_and_other(&marks(a, is_letter), &marks(b, is_letter))
        || both_and_other(&marks(a, is_ordinal), &marks(b, is_ordinal))
}

/// Where both say more about the subject, or about the place, and not the same.
pub(super) fn differ_by_modifier(
    a: &Statement<'_>,
    b: &Statement<'_>,
    overlap: &Overlap<'_>,
    compared: &[&Topic],
) -> bool {
    let has = |statement: &Statement<'_>, only: &[&Topic], test: TopicTest| {
        rest(only, compared).any(|topic| test(statement, topic))
    };
    [in_subject as TopicTest, in_phrase]
        .into_iter()
        .any(|place| has(a, &overlap.only_a, place) && has(b, &overlap.only_b, place))
}

/// Where only one says more: "the upload limit" and "the avatar upload limit". An amount or a date
/// of the whole need not be the one of a part.
pub(super) fn differ_by_part(a: &Statement<'_>, b: &Statement<'_>, overlap: &Overlap<'_>) -> bool {
    let narrowed = |statement: &Statement<'_>, only: &[&Topic]| {
        rest(only, &[]).any(|topic| in_subject(statement, topic) || in_phrase(statement, topic))
    };
    narrowed(a, &overlap.only_a) || narrowed(b, &overlap.only_b)
}

type TopicTest = fn(&Statement<'_>, &Topic) -> bool;

fn rest<'r, 's>(
    only: &'r [&'s Topic],
    compared: &'r [&Topic],
) -> impl Iterator<Item = &'s Topic> + use<'r, 's> {
    let compared = move |topic: &Topic| compared.iter().any(|other| std::ptr::eq(*other, topic));
    let neutral = |topic: &Topic| NEUTRAL.contains(&topic.stem.as_str());
    only.iter().copied().filter(move |topic| !compared(topic) && !neutral(topic))
}

fn in_subject(statement: &Statement<'_>, topic: &Topic) -> bool {
    topic.at < statement.verb
}

/// Whether a word that locates stands shortly before, in the same clause.
fn in_phrase(statement: &Statement<'_>, topic: &Topic) -> bool {
    let before = statement.tokens.get(..=topic.at).unwrap_or_default();
    for token in before.iter().rev().take(PHRASE + 1) {
        if LOCATING.contains(&token.lower.as_str()) {
            return true;
        }
        if token.after_break {
            return false;
        }
    }
    false
}

/// Whether a topic is the subject itself: what stands right before the predicate, or is all before it.
fn is_subject(statement: &Statement<'_>, topic: &Topic) -> bool {
    let before = || statement.topics_within(0, statement.verb);
    before().count() == 1
        || before().last().is_some_and(|last| std::ptr::eq(last, topic))
        || topic.at < 2
}

/// The numbers that are names: of a known noun ("step 3"), behind a noun of the subject ("query 1
/// takes"), or behind one that locates ("on node 4").
fn numbered(statement: &Statement<'_>) -> Vec<f64> {
    let tokens = &statement.tokens;
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let names = statement.quantities.iter().filter(|quantity| {
        let Some(noun) = quantity.from.checked_sub(1).filter(|noun| is_noun(tokens, *noun)) else {
            return quantity.is_label();
        };
        let setting = tokens.get(noun).is_some_and(|t| SETTINGS.contains(&t.stem.as_str()));
        let bare = quantity.to == quantity.from + 1 && !quantity.is_measure();
        let located = !setting
            && (1..=2)
                .any(|back| noun.checked_sub(back).is_some_and(|at| LOCATING.contains(&word(at))));
        quantity.is_label() || bare && (quantity.from < statement.verb || located)
    });
    let under = statement.quantities.iter().filter(|quantity| {
        quantity.from > 1
            && quantity.from < statement.verb
            && LOCATING.contains(&word(quantity.from - 1))
    });
    names.chain(under).map(|quantity| quantity.low).collect()
}

fn is_noun(tokens: &[Token<'_>], at: usize) -> bool {
    let bound = |word: &str| matches!(word, "least" | "most" | "than" | "about" | "around" | "=");
    tokens
        .get(at)
        .is_some_and(|token| !token.is_function() && !token.is_numeric() && !bound(&token.lower))
}

fn marks(statement: &Statement<'_>, test: fn(usize, &Token<'_>) -> bool) -> Vec<String> {
    let tokens = statement.tokens.iter().enumerate();
    tokens.filter(|(at, token)| test(*at, token)).map(|(_, token)| token.lower.clone()).collect()
}

/// "Server A", "plan B", but neither "A server" nor "I".
fn is_letter(at: usize, token: &Token<'_>) -> bool {
    let mut letters = token.surface.chars();
    let one = letters.next().filter(|letter| letter.is_uppercase() && *letter != 'I');
    at > 0 && one.is_some() && letters.next().is_none()
}

fn is_ordinal(_: usize, token: &Token<'_>) -> bool {
    let digits = token.lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = token.lower.get(digits.len()..).unwrap_or_default();
    let written = !digits.is_empty() && matches!(suffix, "st" | "nd" | "rd" | "th");
    written || ORDINALS.contains(&token.lower.as_str())
}

/// Whether both have some, and not the same.
fn both_and_other<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    !a.is_empty() && !b.is_empty() && a != b
}
