//! Rule: each crate has at most so many external dependencies, and the lock file at most so many packages.
//! Optional dependencies count; those of tests and build scripts do not.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::metadata::Metadata;
use super::tables::{Budgets, DEPS_TABLE};
use super::tree::Tree;

const LOCK: &str = "Cargo.lock";

pub(crate) fn check(tree: &Tree, metadata: &Metadata, budgets: &Budgets) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata.members() {
        let budget = budgets.externals.get(&package.name).unwrap_or(&budgets.externals_default);
        let externals: BTreeSet<&str> = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind.is_none() && !metadata.is_member(&dependency.name))
            .map(|dependency| dependency.name.as_str())
            .collect();
        if externals.len() > *budget {
            let manifest = metadata.manifest(package);
            let line = tree.line_where(manifest, |line| line.starts_with("[dependencies]"));
            let names: Vec<_> = externals.iter().copied().collect();
            let message = format!(
                "{} external dependencies, {budget} allowed: {}",
                names.len(),
                names.join(", ")
            );
            findings.push(Finding::new(manifest, line, message));
        }
    }
    let lock = tree.text(LOCK).unwrap_or_default();
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    if packages > budgets.lock_packages {
        let message = format!("{packages} packages, {} allowed", budgets.lock_packages);
        findings.push(Finding::new(LOCK, 1, message));
    }
    for name in budgets.externals.keys().filter(|name| !metadata.is_member(name)) {
        let line = tree.line_where(DEPS_TABLE, |line| line.starts_with(name.as_str()));
        findings.push(Finding::new(DEPS_TABLE, line, format!("there is no crate {name}")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;
    use crate::tidy::metadata::workspace;

    fn budgets(a: usize, lock_packages: usize) -> Budgets {
        let externals = [("a".to_owned(), a)].into();
        Budgets { lock_packages, externals_default: 20, externals }
    }

    #[test]
    fn counts_normal_external_dependencies_once() {
        let dependencies = [
            ("x", None),
            ("x", None),
            ("y", None),
            ("t", Some("dev")),
            ("c", Some("build")),
            ("b", None),
        ];
        let metadata = workspace(&[("a", &dependencies), ("b", &[])], &[]);
        assert_eq!(check(&Tree::of(&[]), &metadata, &budgets(2, 2)), []);
        assert_eq!(
            texts(&check(&Tree::of(&[]), &metadata, &budgets(1, 2))),
            ["crates/a/Cargo.toml:1: 2 external dependencies, 1 allowed: x, y"]
        );
    }

    #[test]
    fn refuses_a_lock_file_with_too_many_packages() {
        let metadata = workspace(&[("a", &[])], &[]);
        let lock = "[[package]]\nname = \"a\"\n\n[[package]]\nname = \"x\"\n";
        assert_eq!(
            texts(&check(&Tree::of(&[(LOCK, lock)]), &metadata, &budgets(1, 1))),
            ["Cargo.lock:1: 2 packages, 1 allowed"]
        );
    }

    #[test]
    fn refuses_a_budget_for_a_crate_that_is_gone() {
        let metadata = workspace(&[("b", &[])], &[]);
        assert_eq!(
            texts(&check(&Tree::of(&[]), &metadata, &budgets(1, 9))),
            ["xtask/deps.toml:1: there is no crate a"]
        );
    }
}
