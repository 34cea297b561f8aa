//! The table of figures, as it is kept, and what is said of new ones.

use std::{collections::BTreeMap, fmt::Write as _};

/// Instructions by path.
pub(crate) type Figures = BTreeMap<String, u64>;

/// By how much a figure may differ from the reviewed one, in percent.
const TOLERANCE: u64 = 10;

const OPENING: &str = "\
# How many instructions a hot path takes, each time or for each event, as callgrind counts them in the dev profile on
# x86-64. A test of crates/quipu-field (tests/instructions) counts again and fails where one takes 10 % more.
# CONTRIBUTING.md says what each is, what to do when it fails, and how this table is made anew.

";

/// What is to be said of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// As it was.
    Holds,
    /// Less than it was: good, and time for a new figure.
    Fell,
    /// More than it was.
    Regressed,
    /// Only one of the tables has it.
    Unmatched,
}

/// Reads `name = 123`, line by line.
pub(crate) fn read(text: &str) -> Figures {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, figure) = line.split_once(" = ").expect("a name and its figure");
            (name.to_owned(), figure.replace('_', "").parse().expect("a number"))
        })
        .collect()
}

/// The table as it is kept.
pub(crate) fn write(figures: &Figures) -> String {
    let mut text = OPENING.to_owned();
    for (name, figure) in figures {
        writeln!(text, "{name} = {}", grouped(*figure)).unwrap();
    }
    text
}

fn grouped(figure: u64) -> String {
    let digits = figure.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// What is to be said of each path that either table has.
pub(crate) fn compare(reviewed: &Figures, counted: &Figures) -> BTreeMap<String, Verdict> {
    let names = reviewed.keys().chain(counted.keys());
    names
        .map(|name| {
            let verdict = match (reviewed.get(name), counted.get(name)) {
                (Some(was), Some(is)) => judge(*was, *is),
                _ => Verdict::Unmatched,
            };
            (name.clone(), verdict)
        })
        .collect()
}

fn judge(was: u64, is: u64) -> Verdict {
    if is * 100 > was * (100 + TOLERANCE) {
        Verdict::Regressed
    } else if is * 100 < was * (100 - TOLERANCE) {
        Verdict::Fell
    } else {
        Verdict::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(of: &[(&str, u64)]) -> Figures {
        of.iter().map(|(name, figure)| ((*name).to_owned(), *figure)).collect()
    }

    fn verdict(was: u64, is: u64) -> Verdict {
        compare(&figures(&[("path", was)]), &figures(&[("path", is)])).remove("path").unwrap()
    }

    #[test]
    fn a_doubled_count_is_a_regression() {
        assert_eq!(verdict(5_000, 10_000), Verdict::Regressed);
    }

    #[test]
    fn ten_percent_is_the_border_on_both_sides() {
        assert_eq!(verdict(1_000, 1_100), Verdict::Holds);
        assert_eq!(verdict(1_000, 1_101), Verdict::Regressed);
        assert_eq!(verdict(1_000, 900), Verdict::Holds);
        assert_eq!(verdict(1_000, 899), Verdict::Fell);
    }

    #[test]
    fn a_path_that_only_one_table_has_is_told() {
        let told = compare(&figures(&[("old", 1)]), &figures(&[("new", 1)]));
        assert_eq!(told["old"], Verdict::Unmatched);
        assert_eq!(told["new"], Verdict::Unmatched);
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table = figures(&[("attune", 12_345_678), ("embed", 999), ("record", 100_000)]);
        let text = write(&table);
        assert!(text.contains("attune = 12_345_678\nembed = 999\nrecord = 100_000\n"), "{text}");
        assert_eq!(read(&text), table);
    }
}
