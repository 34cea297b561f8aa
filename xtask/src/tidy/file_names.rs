//! Rule: no Rust module is called `utils`, `helpers`, `common` or `misc`, as a file or as a folder.

use super::finding::Finding;
use super::tree::Tree;

const MEANINGLESS: [&str; 4] = ["utils", "helpers", "common", "misc"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in tree.paths().filter(|path| path.ends_with(".rs")) {
        for part in path.trim_end_matches(".rs").split('/') {
            if MEANINGLESS.contains(&part) {
                let message = format!("`{part}` says nothing; name the module after what it holds");
                findings.push(Finding::new(path, 1, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    #[test]
    fn refuses_modules_named_after_nothing() {
        let tree = Tree::of(&[
            ("a/src/utils.rs", ""),
            ("a/tests/common/mod.rs", ""),
            ("a/src/commons.rs", ""),
            ("docs/misc.md", ""),
        ]);
        assert_eq!(
            texts(&check(&tree)),
            [
                "a/src/utils.rs:1: `utils` says nothing; name the module after what it holds",
                "a/tests/common/mod.rs:1: `common` says nothing; name the module after what it holds",
            ]
        );
    }
}
