//! Rule: each operation has a file of its name in each layer, or a folder of that name with a `mod.rs`.
//! A gap needs a line, with its reason, in the table.

use super::finding::Finding;
use super::tables::{Operations, TIDY_TABLE};
use super::tree::Tree;

const PLACEHOLDER: &str = "{operation}";

pub(crate) fn check(tree: &Tree, table: &Operations) -> Vec<Finding> {
    let mut findings = Vec::new();
    for operation in &table.names {
        for layer in &table.layers {
            let path = layer.replace(PLACEHOLDER, operation);
            let is_gap =
                table.gaps.iter().any(|gap| gap.operation == *operation && gap.layer == *layer);
            if !has_module(tree, &path) && !is_gap {
                let message = format!("the operation `{operation}` has no file here");
                findings.push(Finding::new(&path, 1, message));
            }
        }
    }
    for gap in &table.gaps {
        let path = gap.layer.replace(PLACEHOLDER, &gap.operation);
        let is_known = table.names.contains(&gap.operation) && table.layers.contains(&gap.layer);
        let message = if !is_known {
            format!("the gap of `{}` in `{}` is of no known cell", gap.operation, gap.layer)
        } else if has_module(tree, &path) {
            format!("{path} exists, so it is no gap (\"{}\")", gap.reason)
        } else {
            continue;
        };
        let operation = format!("operation = \"{}\"", gap.operation);
        let line = tree.line_where(TIDY_TABLE, |line| line == operation);
        findings.push(Finding::new(TIDY_TABLE, line, message));
    }
    findings
}

/// Whether the module is there, as `name.rs` or as the folder `name` with its `mod.rs`.
fn has_module(tree: &Tree, path: &str) -> bool {
    let folder = path.strip_suffix(".rs");
    tree.contains(path) || folder.is_some_and(|folder| tree.contains(&format!("{folder}/mod.rs")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;
    use crate::tidy::tables::Gap;

    fn table(gaps: &[(&str, &str)]) -> Operations {
        let gap = |(operation, layer): &(&str, &str)| Gap {
            operation: (*operation).to_owned(),
            layer: (*layer).to_owned(),
            reason: "why".to_owned(),
        };
        Operations {
            names: vec!["record".to_owned(), "attune".to_owned()],
            layers: vec!["wire/{operation}.rs".to_owned(), "field/{operation}.rs".to_owned()],
            gaps: gaps.iter().map(gap).collect(),
        }
    }

    #[test]
    fn refuses_an_operation_that_a_layer_lacks() {
        let tree =
            Tree::of(&[("wire/record.rs", ""), ("field/record.rs", ""), ("wire/attune.rs", "")]);
        let missing = "field/attune.rs:1: the operation `attune` has no file here";
        assert_eq!(texts(&check(&tree, &table(&[]))), [missing]);
        assert_eq!(check(&tree, &table(&[("attune", "field/{operation}.rs")])), []);
    }

    #[test]
    fn a_folder_with_a_table_of_contents_is_as_good_as_a_file() {
        let files = [("wire/record.rs", ""), ("wire/attune.rs", ""), ("field/record.rs", "")];
        let with = |path| Tree::of(&[files[0], files[1], files[2], (path, "")]);
        assert_eq!(check(&with("field/attune/mod.rs"), &table(&[])), []);
        let missing = "field/attune.rs:1: the operation `attune` has no file here";
        assert_eq!(texts(&check(&with("field/attune/scores.rs"), &table(&[]))), [missing]);
        let no_gap = "xtask/tidy.toml:1: field/attune.rs exists, so it is no gap (\"why\")";
        let gaps = table(&[("attune", "field/{operation}.rs")]);
        assert_eq!(texts(&check(&with("field/attune/mod.rs"), &gaps)), [no_gap]);
    }

    #[test]
    fn refuses_a_gap_that_is_none() {
        let tree = Tree::of(&[
            ("wire/record.rs", ""),
            ("field/record.rs", ""),
            ("wire/attune.rs", ""),
            ("field/attune.rs", ""),
        ]);
        let gaps = [("attune", "field/{operation}.rs"), ("merge", "field/{operation}.rs")];
        assert_eq!(
            texts(&check(&tree, &table(&gaps))),
            [
                "xtask/tidy.toml:1: field/attune.rs exists, so it is no gap (\"why\")",
                "xtask/tidy.toml:1: the gap of `merge` in `field/{operation}.rs` is of no known cell",
            ]
        );
    }
}
