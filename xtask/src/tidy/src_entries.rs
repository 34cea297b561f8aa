//! Rule: a crate has at most 16 files and folders directly in its `src`.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use super::product_code;
use super::tree::Tree;

const ENTRIES_MAX: usize = 16;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut entries: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (crate_name, inside) in tree.paths().filter_map(product_code::parts) {
        entries.entry(crate_name).or_default().extend(inside.split('/').next());
    }
    entries.retain(|_, entries| entries.len() > ENTRIES_MAX);
    let finding = |(crate_name, entries): (&&str, &BTreeSet<&str>)| {
        let message = format!(
            "{} entries, {ENTRIES_MAX} allowed; give files that belong together a folder",
            entries.len()
        );
        Finding::new(&format!("crates/{crate_name}/src"), 1, message)
    };
    entries.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    fn tree(files: usize) -> Tree {
        let mut paths: Vec<_> = (0..files).map(|n| format!("crates/x/src/f{n}.rs")).collect();
        paths.push("crates/x/src/folder/a.rs".to_owned());
        paths.push("crates/x/src/folder/b/c.rs".to_owned());
        paths.push("crates/x/tests/a.rs".to_owned());
        Tree::of(&paths.iter().map(|path| (path.as_str(), "")).collect::<Vec<_>>())
    }

    #[test]
    fn refuses_the_first_entry_too_many() {
        assert_eq!(check(&tree(ENTRIES_MAX - 1)), []);
        assert_eq!(
            texts(&check(&tree(ENTRIES_MAX))),
            ["crates/x/src:1: 17 entries, 16 allowed; give files that belong together a folder"]
        );
    }
}
