//! Units of measure: which names mean the same one, what they measure, and how they convert.

/// What a number counts or measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dimension {
    /// A quantity with convertible units, by name.
    Measure(&'static str),
    /// A count of something, by the stem of its noun.
    Of(String),
    /// A number after a noun that it names: "port 8080", by the stem of the noun.
    Named(String),
    Bare,
}

/// Names, what is measured, and how many of its base unit one is. Sorted by name.
const UNITS: &[(&str, &str, f64)] = &[
    ("$", "money in dollars", 1.0),
    ("%", "share", 1.0),
    ("b", "data", 1.0),
    ("byte", "data", 1.0),
    ("celsius", "temperature in Celsius", 1.0),
    ("cent", "money in dollars", 0.01),
    ("cm", "length", 0.01),
    ("day", "time", 86_400.0),
    ("dollar", "money in dollars", 1.0),
    ("eur", "money in euros", 1.0),
    ("euro", "money in euros", 1.0),
    ("fahrenheit", "temperature in Fahrenheit", 1.0),
    ("feet", "length", 0.3048),
    ("foot", "length", 0.3048),
    ("gb", "data", 1e9),
    ("gbp", "money in pounds", 1.0),
    ("gib", "data", 1_073_741_824.0),
    ("gigabyte", "data", 1e9),
    ("h", "time", 3600.0),
    ("hour", "time", 3600.0),
    ("hr", "time", 3600.0),
    ("hz", "frequency", 1.0),
    ("inch", "length", 0.0254),
    ("kb", "data", 1e3),
    ("kg", "mass", 1.0),
    ("khz", "frequency", 1e3),
    ("kib", "data", 1024.0),
    ("kilobyte", "data", 1e3),
    ("kilogram", "mass", 1.0),
    ("kilometer", "length", 1e3),
    ("km", "length", 1e3),
    ("mb", "data", 1e6),
    ("meter", "length", 1.0),
    ("metre", "length", 1.0),
    ("mhz", "frequency", 1e6),
    ("mib", "data", 1_048_576.0),
    ("mile", "length", 1609.344),
    ("millisecond", "time", 1e-3),
    ("min", "time", 60.0),
    ("minute", "time", 60.0),
    ("mm", "length", 1e-3),
    ("month", "time", 2_629_800.0),
    ("ms", "time", 1e-3),
    ("percent", "share", 1.0),
    ("percentage", "share", 1.0),
    ("pound", "money in pounds", 1.0),
    ("s", "time", 1.0),
    ("sec", "time", 1.0),
    ("second", "time", 1.0),
    ("tb", "data", 1e12),
    ("terabyte", "data", 1e12),
    ("usd", "money in dollars", 1.0),
    ("week", "time", 604_800.0),
    ("year", "time", 31_557_600.0),
    ("£", "money in pounds", 1.0),
    ("€", "money in euros", 1.0),
];

/// What a unit measures and how many of the base unit it is. Takes a plural for its singular.
pub(super) fn measure(name: &str) -> Option<(&'static str, f64)> {
    let find = |name: &str| {
        let at = UNITS.binary_search_by(|unit| unit.0.cmp(name)).ok()?;
        UNITS.get(at).map(|(_, dimension, factor)| (*dimension, *factor))
    };
    find(name).or_else(|| find(name.strip_suffix('s').filter(|singular| singular.len() > 1)?))
}

/// What a word behind a number multiplies it by.
pub(super) fn magnitude(word: &str) -> Option<f64> {
    Some(match word {
        "k" | "thousand" => 1e3,
        "m" | "mn" | "million" => 1e6,
        "bn" | "billion" => 1e9,
        "trillion" => 1e12,
        "hundred" => 100.0,
        "dozen" => 12.0,
        _ => return None,
    })
}

/// A number that is written as a word.
pub(super) fn number_word(word: &str) -> Option<f64> {
    const WORDS: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    const TENS: [&str; 7] = ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let place = |list: &[&str]| {
        list.iter()
            .position(|other| *other == word)
            .and_then(|at| u8::try_from(at).ok())
            .map(f64::from)
    };
    match word {
        "half" => Some(0.5),
        "twice" => Some(2.0),
        "a" | "one" => None,
        _ => place(&WORDS).or_else(|| place(&TENS).map(|at| 30.0 + at * 10.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_are_sorted_because_they_are_searched_by_halving() {
        assert!(UNITS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn plurals_and_words_are_known() {
        assert_eq!(measure("minutes"), Some(("time", 60.0)));
        assert_eq!(measure("ms"), Some(("time", 1e-3)));
        assert_eq!(measure("users"), None);
        assert_eq!(number_word("forty"), Some(40.0));
        assert_eq!(number_word("fox"), None);
        assert_eq!(magnitude("million"), Some(1e6));
    }
}
