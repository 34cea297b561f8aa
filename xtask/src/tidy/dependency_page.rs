//! Rule: the page of dependencies names every external package of the workspace manifest once, and no other.
//! Whether the reason that it gives is a good one is for people.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::finding::Finding;
use super::tree::Tree;

const ROOT: &str = "Cargo.toml";
const PAGE: &str = "docs/dependencies.md";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let declared = declared(tree.text(ROOT).unwrap_or_default());
    let mut findings = Vec::new();
    let mut named = BTreeMap::new();
    for (index, line) in tree.text(PAGE).unwrap_or_default().lines().enumerate() {
        let Some((name, reason)) = row(line) else { continue };
        let problem = if !declared.contains(name) {
            "is not a dependency of ours"
        } else if named.insert(name, index).is_some() {
            "is named twice"
        } else if reason.is_empty() {
            "has no reason"
        } else {
            continue;
        };
        findings.push(Finding::new(PAGE, index + 1, format!("`{name}` {problem}")));
    }
    for name in declared.iter().filter(|name| !named.contains_key(name.as_str())) {
        let line = tree.line_where(ROOT, |line| line.starts_with(&format!("{name} =")));
        findings.push(Finding::new(ROOT, line, format!("`{name}` has no reason in {PAGE}")));
    }
    findings
}

/// The packages of the workspace's list that are not our own.
fn declared(manifest: &str) -> BTreeSet<String> {
    let manifest: Table = manifest.parse().unwrap_or_default();
    let list = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let list = list.and_then(Value::as_table).into_iter().flatten();
    list.filter(|(_, package)| package.get("path").is_none())
        .map(|(name, _)| name.clone())
        .collect()
}

/// The name and the reason of a table's row that begins with a name in backticks.
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("| `")?.split_once("` |")?;
    Some((name, rest.trim_matches([' ', '|'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    const MANIFEST: &str = "[workspace.dependencies]\nx = \"1\"\ny = { version = \"1\" }\n\
                            ours = { path = \"crates/ours\" }\n";

    fn found(page: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[(ROOT, MANIFEST), (PAGE, page)])))
    }

    #[test]
    fn accepts_a_page_with_every_package_and_its_reason() {
        let page = "| package | why |\n|---|---|\n| `x` | for this |\n\n| `y` | for that |\n| by hand | `z` |\n";
        assert_eq!(found(page), [""; 0]);
    }

    #[test]
    fn refuses_a_package_that_is_missing_or_has_no_reason() {
        assert_eq!(
            found("| `x` | |\n"),
            [
                "docs/dependencies.md:1: `x` has no reason",
                "Cargo.toml:3: `y` has no reason in docs/dependencies.md",
            ]
        );
    }

    #[test]
    fn refuses_a_name_that_is_no_dependency_or_stands_twice() {
        assert_eq!(
            found("| `x` | a |\n| `y` | b |\n| `x` | c |\n| `ours` | d |\n| `gone` | e |\n"),
            [
                "docs/dependencies.md:3: `x` is named twice",
                "docs/dependencies.md:4: `ours` is not a dependency of ours",
                "docs/dependencies.md:5: `gone` is not a dependency of ours",
            ]
        );
    }
}
