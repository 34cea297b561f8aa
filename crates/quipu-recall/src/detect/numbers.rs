//! Numbers in a sentence: what they count, and which values a phrase leaves open. "At least 10" and
//! "12" agree, "10 ms" and "0.01 s" are the same, "about 100" and "105" do not disagree.

use super::{
    token::Token,
    units::{Dimension, magnitude, measure, number_word},
    words::is_function,
};

/// A number with what it is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    /// The least value that is meant.
    pub(super) low: f64,
    pub(super) high: f64,
    /// What is counted.
    pub(super) dimension: Dimension,
    /// The first token that belongs to it.
    pub(super) from: usize,
    /// The token behind the last one that belongs to it.
    pub(super) to: usize,
    /// As written.
    pub(super) text: String,
}

/// How far from "about 100" a number may be.
const ABOUT: f64 = 0.15;

/// How far apart two numbers may be that are the same but for rounding.
const ROUNDING: f64 = 0.006;

/// Nouns whose number is a name and no amount: step 3 is another step than step 4.
const LABELS: &[&str] = &[
    "#", "account", "agent", "appendix", "block", "branch", "candid", "case", "channel", "chapter",
    "client", "cluster", "column", "custom", "cycl", "dai", "dataset", "district", "document",
    "drive", "engin", "entri", "epoch", "event", "exampl", "exercis", "experi", "figur", "file",
    "floor", "gate", "gener", "group", "host", "hous", "index", "issu", "item", "iter", "job",
    "lane", "layer", "lesson", "level", "line", "lot", "machin", "mileston", "model", "modul",
    "night", "option", "order", "page", "paper", "part", "patient", "period", "phase", "player",
    "pod", "pool", "pr", "problem", "project", "q", "quarter", "question", "queue", "record",
    "region", "replica", "request", "robot", "room", "round", "rout", "row", "rule", "run",
    "sampl", "scenario", "scene", "season", "section", "segment", "sensor", "server", "session",
    "shard", "slide", "slot", "speci", "sprint", "stage", "station", "step", "store", "student",
    "subject", "tabl", "task", "team", "tenant", "termin", "test", "ticket", "tier", "track",
    "trial", "unit", "user", "variant", "volum", "warehous", "wave", "week", "worker", "zone",
];

impl Quantity {
    /// Whether the two may both be right.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        let end =
            |quantity: &Self| if quantity.low.is_finite() { quantity.low } else { quantity.high };
        let slack = end(self).abs().max(end(other).abs()) * ROUNDING;
        self.low <= other.high + slack && other.low <= self.high + slack
    }

    /// Whether both are amounts of the same thing.
    pub(super) fn is_comparable(&self, other: &Self) -> bool {
        match (&self.dimension, &other.dimension) {
            (Dimension::Measure(a), Dimension::Measure(b)) => a == b,
            (Dimension::Of(a), Dimension::Of(b)) | (Dimension::Named(a), Dimension::Named(b)) => {
                a == b
            }
            (Dimension::Bare, Dimension::Bare) => true,
            (
                Dimension::Measure(_) | Dimension::Of(_) | Dimension::Named(_) | Dimension::Bare,
                _,
            ) => false,
        }
    }

    /// Whether it has a unit.
    pub(super) const fn is_measure(&self) -> bool {
        matches!(self.dimension, Dimension::Measure(_))
    }

    /// Whether it is a name rather than an amount.
    pub(super) fn is_label(&self) -> bool {
        matches!(&self.dimension, Dimension::Named(noun) if LABELS.contains(&noun.as_str()))
    }
}

/// The quantities of a sentence, in order.
pub(super) fn quantities(tokens: &[Token<'_>], skip: &[bool]) -> Vec<Quantity> {
    let mut found: Vec<Quantity> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let skipped = skip.get(at).copied().unwrap_or(false);
        match (skipped, read(tokens, at)) {
            (false, Some(quantity)) => {
                at = quantity.to;
                add(tokens, quantity, &mut found);
            }
            (true, _) | (false, None) => at += 1,
        }
    }
    found
}

/// Adds a quantity, or makes a range of it and the one before: "10 to 20 ms", "between 5 and 6 %".
fn add(tokens: &[Token<'_>], quantity: Quantity, found: &mut Vec<Quantity>) {
    let joins = |from: usize, to: usize| match tokens.get(from..to) {
        Some([]) => tokens.get(from).is_some_and(|token| token.is_numeric()),
        Some([word]) => matches!(word.lower.as_str(), "to" | "-" | "–"),
        _ => false,
    };
    let between = |from: usize, to: usize| {
        tokens
            .get(from..to)
            .is_some_and(|words| words.len() == 1 && words.iter().all(|w| w.lower == "and"))
    };
    if let Some(last) = found.last_mut() {
        let after_between =
            last.from > 0 && tokens.get(last.from - 1).is_some_and(|t| t.lower == "between");
        let same = last.is_comparable(&quantity)
            || matches!(last.dimension, Dimension::Bare | Dimension::Of(_));
        let range =
            joins(last.to, quantity.from) || (after_between && between(last.to, quantity.from));
        if same && range && last.to < quantity.to {
            let factor = match (&last.dimension, &quantity.dimension) {
                (Dimension::Bare | Dimension::Of(_), Dimension::Measure(_)) => {
                    unit_factor(tokens, &quantity)
                }
                _ => 1.0,
            };
            let (a, b) = (last.low * factor, quantity.high);
            last.text = format!("{} to {}", last.text, quantity.text);
            (last.low, last.high) = (a.min(b), a.max(b));
            (last.dimension, last.to) = (quantity.dimension, quantity.to);
            return;
        }
    }
    found.push(quantity);
}

fn unit_factor(tokens: &[Token<'_>], quantity: &Quantity) -> f64 {
    let words = tokens.get(quantity.from..quantity.to).unwrap_or_default();
    words.iter().find_map(|token| measure(&token.lower)).map_or(1.0, |(_, factor)| factor)
}

/// The quantity that begins at a token.
fn read(tokens: &[Token<'_>], at: usize) -> Option<Quantity> {
    let token = tokens.get(at)?;
    let (mut value, mut unit) = number(token)?;
    let mut to = at + 1;
    if let Some(factor) = tokens.get(to).and_then(|next| magnitude(&next.lower)) {
        value *= factor;
        to += 1;
    }
    let mut from = at;
    let sign = at.checked_sub(1).and_then(|before| tokens.get(before));
    if let Some(sign) = sign.filter(|sign| matches!(sign.lower.as_str(), "$" | "€" | "£")) {
        unit = measure(&sign.lower);
        from = at - 1;
    }
    let plus = tokens.get(to).is_some_and(|next| next.lower == "+");
    to += usize::from(plus);
    if unit.is_none()
        && let Some(found) = tokens.get(to).and_then(|next| measure(&next.lower))
    {
        unit = Some(found);
        to += 1;
    }
    let dimension = match unit {
        Some((dimension, factor)) => {
            value *= factor;
            Dimension::Measure(dimension)
        }
        None => counted(tokens, from, to),
    };
    let (low, high) = bounds(tokens, from, value, plus);
    let words = tokens.get(from..to).unwrap_or_default();
    let text = words.iter().map(|t| t.surface).collect::<Vec<_>>().join(" ").replace(" %", "%");
    let text = text.replace("$ ", "$").replace("€ ", "€").replace("£ ", "£");
    Some(Quantity { low, high, dimension, from, to, text })
}

/// What a number without a unit counts: the noun behind it, or the one that it names.
fn counted(tokens: &[Token<'_>], from: usize, to: usize) -> Dimension {
    // "Retries 7 times" is as often as "retries at most 7 times".
    if let Some(times) = tokens.get(to).filter(|next| next.lower == "times") {
        return Dimension::Of(times.stem.clone());
    }
    let before = from.checked_sub(1).and_then(|at| tokens.get(at));
    if let Some(noun) = before.filter(|token| !is_function(&token.lower) && !token.is_numeric())
        && !matches!(
            noun.lower.as_str(),
            "least" | "about" | "to" | "than" | "=" | "~" | ">" | "<" | "≥" | "≤"
        )
        && (LABELS.contains(&noun.stem.as_str()) || is_named(&noun.stem))
    {
        return Dimension::Named(noun.stem.clone());
    }
    let behind = tokens.get(to..).unwrap_or_default().iter();
    let noun = behind
        .take(3)
        .take_while(|token| !token.after_break)
        .find(|token| !is_function(&token.lower));
    noun.map_or(Dimension::Bare, |noun| Dimension::Of(noun.stem.clone()))
}

/// Nouns whose number follows them.
fn is_named(stem: &str) -> bool {
    matches!(
        stem,
        "port"
            | "version"
            | "code"
            | "status"
            | "build"
            | "size"
            | "limit"
            | "timeout"
            | "retri"
            | "number"
            | "score"
            | "threshold"
            | "prioriti"
            | "python"
            | "java"
            | "node"
            | "releas"
            | "batch"
            | "seed"
            | "rate"
    )
}

/// The value of a token and a unit written onto it: "4.2b", "10ms", "23", "twelve".
fn number(token: &Token<'_>) -> Option<(f64, Option<(&'static str, f64)>)> {
    if !token.is_numeric() {
        return number_word(&token.lower).map(|value| (value, None));
    }
    let end = token.lower.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let (digits, rest) = token.lower.split_at(end.unwrap_or(token.lower.len()));
    let value: f64 = digits.replace(',', "").parse().ok()?;
    match rest {
        "" => Some((value, None)),
        "b" => Some((value * 1e9, None)),
        "x" | "st" | "nd" | "rd" | "th" => None,
        suffix => match (magnitude(suffix), measure(suffix)) {
            (Some(factor), _) => Some((value * factor, None)),
            (None, Some(unit)) => Some((value, Some(unit))),
            (None, None) => None,
        },
    }
}

/// Which values the words before a number leave open.
fn bounds(tokens: &[Token<'_>], from: usize, value: f64, plus: bool) -> (f64, f64) {
    let before = |back: usize| {
        from.checked_sub(back)
            .and_then(|at| tokens.get(at))
            .map_or("", |token| token.lower.as_str())
    };
    let least = (value, f64::INFINITY);
    let most = (f64::NEG_INFINITY, value);
    match (before(2), before(1)) {
        _ if plus => least,
        ("at", "least") | ("more" | "greater" | "higher" | "longer", "than") => least,
        ("at", "most") | ("less" | "fewer" | "lower" | "shorter", "than") | ("up", "to") => most,
        (_, "over" | "above" | "exceeds" | "exceeding" | "minimum" | ">" | "≥") => least,
        (_, "under" | "below" | "within" | "maximum" | "<" | "≤") => most,
        (
            _,
            "about" | "around" | "approximately" | "roughly" | "nearly" | "almost" | "circa" | "~",
        ) => (value - value.abs() * ABOUT, value + value.abs() * ABOUT),
        _ => (value, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::token::tokens;

    fn all(sentence: &str) -> Vec<Quantity> {
        quantities(&tokens(sentence), &[])
    }

    fn one(sentence: &str) -> Quantity {
        all(sentence).remove(0)
    }

    #[test]
    fn equal_amounts_agree_whatever_their_units() {
        for (a, b) in [
            ("takes 10 ms", "takes 0.01 seconds"),
            ("takes 10ms", "takes 10 milliseconds"),
            ("costs $4.2B", "costs $4,200 million"),
            ("at least 10 users", "12 users"),
            ("about 100 users", "105 users"),
            ("10 to 20 minutes", "15 minutes"),
            ("between 10 and 20 minutes", "900 seconds"),
            ("10-20 minutes", "12 minutes"),
            ("up to 5 retries", "three retries"),
            ("1 GB", "1000 MB"),
        ] {
            let (a, b) = (one(a), one(b));
            assert!(a.is_comparable(&b) && a.agrees(&b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn different_amounts_of_the_same_do_not_agree() {
        for (a, b) in [
            ("takes 10 ms", "takes 10 seconds"),
            ("grew 23%", "grew 14 percent"),
            ("port 8080", "port 9090"),
            ("at least 10 users", "7 users"),
            ("at most 3 retries", "7 retries"),
            ("below 200 ms", "450 ms"),
            ("three nodes", "five nodes"),
            ("$4.2B", "$3.1B"),
        ] {
            let (a, b) = (one(a), one(b));
            assert!(a.is_comparable(&b) && !a.agrees(&b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn amounts_of_different_things_are_not_compared() {
        for (a, b) in
            [("10 users", "10 nodes"), ("10 ms", "10 MB"), ("$5", "€5"), ("port 80", "80 users")]
        {
            assert!(!one(a).is_comparable(&one(b)), "{a:?} {b:?}");
        }
        assert!(one("step 3 is done").is_label() && all("v1.2 and 3rd").is_empty());
    }
}
