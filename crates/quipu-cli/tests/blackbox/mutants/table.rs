//! The tables of `docs/conformance.md`: which cases catch which variant, and which cases nothing from
//! outside can break.

use std::collections::{BTreeMap, BTreeSet};

use quipu_conformance::{Rule, catalogue};

const PAGE: &str = include_str!("../../../../../docs/conformance.md");

/// The part of a case's name that is unique: `l0_record_02`.
pub(crate) fn short(name: &str) -> String {
    name.splitn(4, '_').take(3).collect::<Vec<_>>().join("_")
}

/// A row of the page: what stands in backticks in its first and in its last cell.
fn rows() -> impl Iterator<Item = (&'static str, BTreeSet<&'static str>)> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| {
        let mut cells = row.trim_matches('|').split(" | ");
        let name = quoted(cells.next()?).next()?;
        Some((name, quoted(cells.last()?).collect()))
    })
}

fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The cases that catch each variant, as the page says.
pub(crate) fn caught_by() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    rows().filter(|(name, _)| !is_case(name)).collect()
}

fn is_case(name: &str) -> bool {
    catalogue().iter().any(|rule| short(rule.name) == name)
}

/// A row for the page, from what was found.
pub(crate) fn row(name: &str, breaks: &str, caught: &BTreeSet<String>) -> String {
    let cases: Vec<String> = caught.iter().map(|case| format!("`{case}`")).collect();
    format!("| `{name}` | {breaks} | {} |\n", cases.join(" "))
}

#[test]
fn every_case_is_broken_by_a_variant_or_the_page_says_why_none_can() {
    let caught: BTreeSet<&str> = caught_by().into_values().flatten().collect();
    let excused: BTreeSet<&str> =
        rows().map(|(name, _)| name).filter(|name| is_case(name)).collect();
    let rules: Vec<&Rule> = catalogue();
    let without = |rule: &&&Rule| {
        let name = short(rule.name);
        !caught.contains(name.as_str()) && !excused.contains(name.as_str())
    };
    let missing: Vec<&str> = rules.iter().filter(without).map(|rule| rule.name).collect();
    assert_eq!(missing, Vec::<&str>::new(), "no variant breaks these cases");
    let needless: Vec<&&str> = excused.intersection(&caught).collect();
    assert_eq!(needless, Vec::<&&str>::new(), "these are broken after all");
}

#[test]
fn the_page_names_only_cases_that_exist() {
    let known: BTreeSet<String> = catalogue().iter().map(|rule| short(rule.name)).collect();
    let named = caught_by().into_values().flatten();
    let unknown: Vec<&str> = named.filter(|name| !known.contains(*name)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
}
