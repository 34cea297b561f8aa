//! Rule: a package is in the tree in one version, but for those in the table.
//! An exception for a package that is no longer doubled is a finding too.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use super::metadata::Metadata;
use super::tables::{Duplicate, TIDY_TABLE};
use super::tree::Tree;

const LOCK: &str = "Cargo.lock";

pub(crate) fn check(tree: &Tree, metadata: &Metadata, exceptions: &[Duplicate]) -> Vec<Finding> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &metadata.packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let mut findings = Vec::new();
    for (name, versions) in &versions {
        if !exceptions.iter().any(|exception| exception.package == *name) {
            let listed = versions.iter().copied().collect::<Vec<_>>().join(", ");
            let quoted = format!("name = \"{name}\"");
            let line = tree.line_where(LOCK, |line| line == quoted);
            let message = format!("{name} comes in several versions: {listed}");
            findings.push(Finding::new(LOCK, line, message));
        }
    }
    for exception in exceptions {
        let Duplicate { package, reason } = exception;
        if !versions.contains_key(package.as_str()) {
            let quoted = format!("package = \"{package}\"");
            let line = tree.line_where(TIDY_TABLE, |line| line == quoted);
            let message = format!("{package} is not doubled and needs no exception (\"{reason}\")");
            findings.push(Finding::new(TIDY_TABLE, line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;
    use crate::tidy::metadata::workspace;

    fn exception(package: &str) -> Duplicate {
        Duplicate { package: package.to_owned(), reason: "why".to_owned() }
    }

    #[test]
    fn refuses_a_second_version() {
        let metadata = workspace(&[], &[("x", "1.0.0", None), ("x", "2.0.0", None)]);
        let tree = Tree::of(&[(LOCK, "[[package]]\nname = \"x\"\n")]);
        assert_eq!(
            texts(&check(&tree, &metadata, &[])),
            ["Cargo.lock:2: x comes in several versions: 1.0.0, 2.0.0"]
        );
        assert_eq!(check(&tree, &metadata, &[exception("x")]), []);
    }

    #[test]
    fn refuses_an_exception_that_nothing_needs() {
        let metadata = workspace(&[], &[("x", "1.0.0", None)]);
        assert_eq!(
            texts(&check(&Tree::of(&[]), &metadata, &[exception("x")])),
            ["xtask/tidy.toml:1: x is not doubled and needs no exception (\"why\")"]
        );
    }
}
