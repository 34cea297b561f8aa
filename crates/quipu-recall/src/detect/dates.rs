//! Dates in a sentence: days, months, quarters, years, weekdays and times of day. Two agree where every
//! part that both of them name is the same.

use super::token::Token;

/// A date as far as it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Date {
    /// Year, quarter, month, day, weekday, minute of the day; what is not given is not there.
    parts: [Option<u32>; 6],
    /// The first token that belongs to it.
    pub(super) from: usize,
    /// The token behind the last one that belongs to it.
    pub(super) to: usize,
    /// As written.
    pub(super) text: String,
}

const YEAR: usize = 0;
const QUARTER: usize = 1;
const MONTH: usize = 2;
const DAY: usize = 3;
const WEEKDAY: usize = 4;
const MINUTE: usize = 5;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

impl Date {
    /// Whether the two may be the same.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.parts.iter().zip(&other.parts).all(|(a, b)| a.is_none() || b.is_none() || a == b)
    }

    /// Whether both name the same part of a date.
    pub(super) fn is_comparable(&self, other: &Self) -> bool {
        self.parts.iter().zip(&other.parts).any(|(a, b)| a.is_some() && b.is_some())
    }
}

/// The dates of a sentence, in order.
pub(super) fn dates(tokens: &[Token<'_>]) -> Vec<Date> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match read(tokens, at) {
            Some((parts, to)) => {
                let words = tokens.get(at..to).unwrap_or_default();
                let text = words.iter().map(|t| t.surface).collect::<Vec<_>>().join(" ");
                found.push(Date { parts, from: at, to, text });
                at = to;
            }
            None => at += 1,
        }
    }
    found
}

fn read(tokens: &[Token<'_>], at: usize) -> Option<([Option<u32>; 6], usize)> {
    let mut parts = [None; 6];
    let mut to = at;
    while let Some(token) =
        tokens.get(to).filter(|token| to == at || !token.after_break || is_year(token))
    {
        let next = tokens.get(to + 1);
        let (place, value) = match part(token, to.checked_sub(1).and_then(|b| tokens.get(b)), next)
        {
            Some(found) => found,
            None if iso(&token.lower).is_some() && to == at => {
                let [year, month, day] = iso(&token.lower)?;
                (parts[YEAR], parts[MONTH], parts[DAY]) = (Some(year), Some(month), Some(day));
                to += 1;
                continue;
            }
            None => break,
        };
        if parts[place].is_some() {
            break;
        }
        parts[place] = Some(value);
        to += 1;
    }
    // A day of no month is a number.
    let only_day = parts[DAY].is_some() && parts[MONTH].is_none();
    (to > at && !only_day).then_some((parts, to))
}

/// Which part of a date a token is, by itself and its neighbours.
fn part(
    token: &Token<'_>,
    before: Option<&Token<'_>>,
    next: Option<&Token<'_>>,
) -> Option<(usize, u32)> {
    let word = token.lower.as_str();
    if let Some(month) = month(token) {
        return Some((MONTH, month));
    }
    if let Some(at) =
        WEEKDAYS.iter().position(|day| word == *day || word.strip_suffix('s') == Some(day))
    {
        return Some((WEEKDAY, u32::try_from(at).ok()?));
    }
    if let Some(quarter) = word.strip_prefix('q').filter(|digit| digit.len() == 1) {
        return Some((QUARTER, quarter.parse().ok().filter(|q| (1..=4).contains(q))?));
    }
    if let Some((hour, minute)) = word.split_once(':') {
        let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
        let evening = next.is_some_and(|next| next.lower == "pm") && hour < 12;
        return (hour < 24 && minute < 60)
            .then_some((MINUTE, (hour + 12 * u32::from(evening)) * 60 + minute));
    }
    let beside_month = |token: Option<&Token<'_>>| token.and_then(month).is_some();
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    if beside_month(before) || beside_month(next) {
        let day: Option<u32> = digits.parse().ok().filter(|day| (1..=31).contains(day));
        if let Some(day) = day {
            return Some((DAY, day));
        }
    }
    let year = is_year(token)
        && before.is_some_and(|b| {
            matches!(
                b.lower.as_str(),
                "in" | "since"
                    | "by"
                    | "until"
                    | "during"
                    | "from"
                    | "of"
                    | "for"
                    | "after"
                    | "before"
                    | "year"
            ) || month(b).is_some()
                || b.lower.starts_with('q')
                || b.is_numeric()
        });
    year.then(|| word.parse().ok().map(|year| (YEAR, year)))?
}

fn is_year(token: &Token<'_>) -> bool {
    token.lower.len() == 4
        && token.lower.parse().is_ok_and(|year: u32| (1900..2100).contains(&year))
}

fn month(token: &Token<'_>) -> Option<u32> {
    // "may" and "march" are months only where they are written like one.
    if !token.surface.starts_with(char::is_uppercase) {
        return None;
    }
    let word = token.lower.as_str();
    let short = word.len() == 3 || word == "sept";
    let at = MONTHS.iter().position(|name| word == *name || (short && name.starts_with(word)))?;
    u32::try_from(at + 1).ok()
}

fn iso(word: &str) -> Option<[u32; 3]> {
    let mut numbers = word.splitn(3, '-').map(|part| part.parse().ok());
    let date = [numbers.next()??, numbers.next()??, numbers.next()??];
    (date[0] > 1000 && (1..=12).contains(&date[1]) && (1..=31).contains(&date[2])).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::token::tokens;

    fn one(sentence: &str) -> Date {
        dates(&tokens(sentence)).remove(0)
    }

    #[test]
    fn dates_agree_in_what_both_name() {
        for (a, b, agree) in [
            ("due 2026-03-01", "due March 1, 2026", true),
            ("due March 1", "due 1 March 2026", true),
            ("due March 2026", "due 3 April 2026", false),
            ("due on Friday", "due on Thursday", false),
            ("starts at 10:30", "starts at 10:45", false),
            ("in Q3 2025", "in Q4 2025", false),
            ("founded in 1998", "founded in 2001", false),
            ("in Q3 2025", "in 2025", true),
        ] {
            let (a, b) = (one(a), one(b));
            assert!(a.is_comparable(&b), "{a:?} {b:?}");
            assert_eq!(a.agrees(&b), agree, "{a:?} {b:?}");
        }
    }

    #[test]
    fn numbers_and_verbs_are_no_dates() {
        for sentence in ["it may fail", "they march on", "2048 rows", "3 of 5", ""] {
            assert!(dates(&tokens(sentence)).is_empty(), "{sentence:?}");
        }
    }
}
