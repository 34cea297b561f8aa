//! Rule: one of our crates names another only where `xtask/deps.toml` has that edge, for tests and builds as well.

use super::finding::Finding;
use super::metadata::Metadata;
use super::tables::{DEPS_TABLE, DepsTable};
use super::tree::Tree;

pub(crate) fn check(tree: &Tree, metadata: &Metadata, table: &DepsTable) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata.members() {
        let manifest = metadata.manifest(package);
        let Some(allowed) = table.edges.get(&package.name) else {
            let message = format!("{} has no line in {DEPS_TABLE}", package.name);
            findings.push(Finding::new(manifest, 1, message));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| metadata.is_member(&d.name)) {
            if !allowed.contains(&dependency.name) {
                let line = tree.line_where(manifest, |line| line.starts_with(&dependency.name));
                let message = format!("{} may not know {}", package.name, dependency.name);
                findings.push(Finding::new(manifest, line, message));
            }
        }
    }
    for name in table.edges.iter().flat_map(|(from, to)| std::iter::once(from).chain(to)) {
        if !metadata.is_member(name) {
            let line = tree.line_where(DEPS_TABLE, |line| line.contains(name.as_str()));
            findings.push(Finding::new(DEPS_TABLE, line, format!("there is no crate {name}")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;
    use crate::tidy::metadata::workspace;

    fn table(edges: &[(&str, &[&str])]) -> DepsTable {
        let edge = |(from, to): &(&str, &[&str])| {
            ((*from).to_owned(), to.iter().map(|name| (*name).to_owned()).collect())
        };
        DepsTable { edges: edges.iter().map(edge).collect(), ..DepsTable::default() }
    }

    #[test]
    fn accepts_the_edges_of_the_table_and_fewer() {
        let metadata = workspace(&[("a", &[("b", None), ("serde", None)]), ("b", &[])], &[]);
        let table = table(&[("a", &["b"]), ("b", &["a"])]);
        assert_eq!(check(&Tree::of(&[]), &metadata, &table), []);
    }

    #[test]
    fn refuses_an_edge_that_the_table_does_not_have() {
        let metadata = workspace(&[("a", &[]), ("b", &[("a", Some("dev"))])], &[]);
        let tree = Tree::of(&[("crates/b/Cargo.toml", "[dev-dependencies]\na.workspace = true\n")]);
        let findings = check(&tree, &metadata, &table(&[("a", &[]), ("b", &[])]));
        assert_eq!(texts(&findings), ["crates/b/Cargo.toml:2: b may not know a"]);
    }

    #[test]
    fn refuses_a_crate_without_a_line_and_a_line_without_a_crate() {
        let metadata = workspace(&[("a", &[])], &[]);
        let findings = check(&Tree::of(&[]), &metadata, &table(&[("gone", &[])]));
        assert_eq!(
            texts(&findings),
            [
                "crates/a/Cargo.toml:1: a has no line in xtask/deps.toml",
                "xtask/deps.toml:1: there is no crate gone",
            ]
        );
    }
}
