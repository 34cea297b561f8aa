//! Holds two statements against each other. The rule behind all rules: both say nearly the same, and
//! exactly one thing differs, of a kind that cannot have two values. Where two things differ, the
//! sentences are about different cases, and both may be right.

use super::{
    antonyms::are_opposites,
    cases,
    names::{owners, rivals},
    never::never,
    numbers::Quantity,
    overlap::Overlap,
    quantifiers::Extent,
    readings::{OF_A_READING, gauge, state},
    statement::{Statement, Topic},
    units::Dimension,
    verdict::Clash,
};

/// Below this sameness two statements are about different things, and above the second the same.
const SAMENESS: (f32, f32) = (0.4, 0.8);
/// Tokens above which a sentence is long.
const LONG_TOKENS: usize = 28;
/// Words that say that a date is the point and not only when something happened, by stem.
const DATED: &[&str] = &[
    "begin", "born", "deadlin", "deliv", "due", "end", "expir", "found", "freez", "go-liv",
    "launch", "meet", "meeting", "migrat", "open", "publish", "releas", "schedul", "ship", "start",
    "review", "cutov", "deliveri", "demo", "happen", "holiday", "close", "renew",
];

struct Difference<'s> {
    base: f64,
    what: String,
    left_out: Vec<&'s Topic>,
}

/// Whether two statements clash, and how.
pub(super) fn compare(a: &Statement<'_>, b: &Statement<'_>) -> Option<Clash> {
    let shared = a.shares(b);
    if shared == 0 || shared * 5 < a.topics.len().min(b.topics.len()) {
        return None;
    }
    let overlap = Overlap::new(a, b);
    if overlap.count() == 0 || overlap.sameness(&[]) < SAMENESS.0 / 2.0 {
        return None;
    }
    let difference = the_difference(a, b, &overlap)?;
    let sameness = overlap.sameness(&difference.left_out);
    let about = f64::from(((sameness - SAMENESS.0) / (SAMENESS.1 - SAMENESS.0)).clamp(0.0, 1.0));
    let sureness = difference.base * about * doubt(a, b, &overlap, &difference);
    (sureness > 0.0).then_some(Clash { sureness, what: difference.what })
}

/// What else speaks against a clash, from 0 to 1.
fn doubt(
    a: &Statement<'_>,
    b: &Statement<'_>,
    overlap: &Overlap<'_>,
    found: &Difference<'_>,
) -> f64 {
    let mut doubt = 1.0;
    if overlap.count() < 2 {
        doubt *= 0.75;
    }
    if !(a.is_anchored() && b.is_anchored()) {
        doubt *= 0.75;
    }
    // A long sentence has many clauses, and what one denies another may not.
    let longest = a.tokens.len().max(b.tokens.len());
    if longest > LONG_TOKENS {
        doubt *= 0.7;
    }
    if a.tentative || b.tentative {
        doubt *= 0.75;
    }
    if a.former != b.former {
        doubt *= 0.4;
    }
    if a.polarity.unsure || b.polarity.unsure {
        doubt *= 0.3;
    }
    let loose = |only: &[&Topic]| {
        only.iter()
            .any(|topic| topic.name && !found.left_out.iter().any(|out| std::ptr::eq(*out, *topic)))
    };
    if loose(&overlap.only_a) && loose(&overlap.only_b) {
        doubt *= 0.5;
    }
    doubt
}

/// The one thing that differs; none where nothing does, or where the two speak of different cases.
fn the_difference<'s>(
    a: &Statement<'_>,
    b: &Statement<'_>,
    overlap: &Overlap<'s>,
) -> Option<Difference<'s>> {
    if let Some((left, right)) = owners(a, b, overlap) {
        let what = format!("{} is not {}", left.surface, right.surface);
        return Some(Difference { base: 0.75, what, left_out: vec![left, right] });
    }
    if cases::differ_by_name(a, b, overlap) {
        return None;
    }
    let same_case =
        |found: &Difference<'_>| !cases::differ_by_modifier(a, b, overlap, &found.left_out);
    let opposites = opposites(overlap);
    let denied = a.polarity.negative != b.polarity.negative;
    let dates = dates(a, b, overlap);
    let amounts = amounts(a, b);
    match (denied, opposites, amounts, dates) {
        (false, None, Some(found), None) | (false, None, None, Some(found)) => {
            (!cases::differ_by_part(a, b, overlap)).then_some(found)
        }
        (true, None, None, None) => denial(a, b, overlap).filter(same_case),
        (false, Some((left, right)), None, None) => {
            Some(opposite(a, b, left, right)).filter(same_case)
        }
        (false, None, None, None) => extents(a, b, overlap).or_else(|| {
            let (left, right, base) = rivals(a, b, overlap)?;
            let what = format!("{} is not {}", left.surface, right.surface);
            let left_out = [&overlap.only_a[..], &overlap.only_b[..]].concat();
            Some(Difference { base, what, left_out })
        }),
        // "Grows by 18%" and "shrinks by 4%": the amounts belong to the opposites, if all else is the same.
        (false, Some((left, right)), Some(_), None)
            if overlap.only_a.len() == 1 && overlap.only_b.len() == 1 && is_trend(left) =>
        {
            Some(opposite(a, b, left, right))
        }
        // Two things differ: a denied opposite, another day and another number, and so on.
        _ => None,
    }
}

fn opposites<'s>(overlap: &Overlap<'s>) -> Option<(&'s Topic, &'s Topic)> {
    overlap.only_a.iter().find_map(|left| {
        let right = overlap.only_b.iter().find(|right| are_opposites(&left.stem, &right.stem))?;
        Some((*left, *right))
    })
}

fn is_trend(word: &Topic) -> bool {
    matches!(word.stem.as_str(), "grow" | "shrink" | "grew" | "shrank")
}

fn opposite<'s>(
    a: &Statement<'_>,
    b: &Statement<'_>,
    left: &'s Topic,
    right: &'s Topic,
) -> Difference<'s> {
    let what = format!("“{}” is the opposite of “{}”", left.surface, right.surface);
    Difference {
        base: 0.9 * unless(state(a, b, &[&left.stem, &right.stem])),
        what,
        left_out: vec![left, right],
    }
}

/// One affirms what the other denies.
fn denial<'s>(
    a: &Statement<'_>,
    b: &Statement<'_>,
    overlap: &Overlap<'s>,
) -> Option<Difference<'s>> {
    let negative = if a.polarity.negative { a } else { b };
    if never(negative).is_some() {
        // What never was so far is held against what was before, elsewhere.
        return None;
    }
    let denied = &negative.polarity.denied;
    let shared = |stem: &String| overlap.shared.iter().any(|topic| topic.stem == *stem);
    let at = denied.iter().position(shared)?;
    let base = if at == 0 { 0.95 } else { 0.8 };
    let word = overlap.shared.iter().find(|topic| topic.stem == denied[at])?;
    let what = format!("one denies what the other affirms of “{}”", word.surface);
    Some(Difference { base: base * unless(state(a, b, &[&word.stem])), what, left_out: Vec::new() })
}

/// What is left of a clash that may be a later reading.
const fn unless(reading: bool) -> f64 {
    if reading { OF_A_READING } else { 1.0 }
}

/// Numbers that cannot both be right: of the same unit, about the same thing.
fn amounts<'s>(a: &Statement<'_>, b: &Statement<'_>) -> Option<Difference<'s>> {
    let unmatched = |mine: &[Quantity], theirs: &[Quantity]| -> Vec<Quantity> {
        let matched = |one: &&Quantity| {
            !theirs.iter().any(|other| other.is_comparable(one) && other.agrees(one))
        };
        mine.iter().filter(matched).cloned().collect()
    };
    let left = unmatched(&a.quantities, &b.quantities);
    let right = unmatched(&b.quantities, &a.quantities);
    let (one, other) = left.iter().find_map(|one| {
        let same = right.iter().filter(|other| other.is_comparable(one));
        Some((one, same.min_by_key(|other| other.from.abs_diff(one.from))?))
    })?;
    // Where two amounts differ, one of them is that of the case.
    if left.len() > 1 && right.len() > 1 {
        return None;
    }
    // Where one has several of the kind, it may be about parts of what the other is about.
    let several = left.len().max(right.len()) > 1;
    let base = match one.dimension {
        Dimension::Measure(_) => 0.92,
        Dimension::Named(_) => 0.9,
        Dimension::Of(_) => 0.88,
        Dimension::Bare => 0.7,
    };
    let base = if several { base * 0.7 } else { base } * unless(gauge(a, b));
    let what = format!("{} is not {}", one.text, other.text);
    Some(Difference { base, what, left_out: Vec::new() })
}

fn dates<'s>(
    a: &Statement<'_>,
    b: &Statement<'_>,
    overlap: &Overlap<'s>,
) -> Option<Difference<'s>> {
    let (one, other) = a.dates.iter().find_map(|one| {
        let agreed = b.dates.iter().any(|other| other.is_comparable(one) && other.agrees(one));
        let other = b.dates.iter().find(|other| other.is_comparable(one) && !other.agrees(one))?;
        (!agreed).then_some((one, other))
    })?;
    let dated = |s: &Statement<'_>| {
        s.topics.iter().any(|topic| DATED.contains(&topic.stem.as_str()))
            || s.tokens.iter().any(|token| token.lower == "will")
    };
    let behind = one.from > a.verb && other.from > b.verb;
    let base = match (dated(a) && dated(b), behind) {
        (true, true) => 0.88,
        (true, false) => 0.6,
        (false, true) => 0.5,
        (false, false) => 0.2,
    };
    let what = format!("{} is not {}", one.text, other.text);
    // "Is scheduled for" and "the date is" say the same.
    let only = overlap.only_a.iter().chain(&overlap.only_b).copied();
    let left_out = only.filter(|topic| matches!(topic.stem.as_str(), "date" | "schedul")).collect();
    Some(Difference { base, what, left_out })
}

/// "All" against "none", and "only" against something else.
fn extents<'s>(
    a: &Statement<'_>,
    b: &Statement<'_>,
    overlap: &Overlap<'s>,
) -> Option<Difference<'s>> {
    let ((left, _), (right, _)) = (a.extent?, b.extent?);
    let clash = matches!(
        (left, right),
        (Extent::All, Extent::None)
            | (Extent::None, Extent::All | Extent::Some)
            | (Extent::Some, Extent::None)
    );
    if !clash || overlap.count() < 2 {
        return None;
    }
    let what = format!("one says “{}” and the other “{}”", left.word(), right.word());
    Some(Difference { base: 0.85, what, left_out: Vec::new() })
}
