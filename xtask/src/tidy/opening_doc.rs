//! Rule: every Rust file opens with `//!`.

use super::finding::Finding;
use super::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let opens = |text: &str| {
        let first = text.lines().next().unwrap_or_default();
        first.strip_prefix("//!").is_some_and(|doc| !doc.trim().is_empty())
    };
    tree.with_ending(".rs")
        .filter(|(_, text)| !opens(text))
        .map(|(path, _)| Finding::new(path, 1, "open the file with a `//!` that says what it owns"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    #[test]
    fn refuses_a_file_without_an_opening_doc() {
        let tree = Tree::of(&[
            ("a.rs", "//! Owns a.\nfn a() {}\n"),
            ("b.rs", "use x;\n//! Too late.\n"),
            ("c.rs", "//!\n"),
            ("d.rs", ""),
            ("e.md", "no Rust\n"),
        ]);
        let places: Vec<_> = texts(&check(&tree)).iter().map(|text| text[..5].to_owned()).collect();
        assert_eq!(places, ["b.rs:", "c.rs:", "d.rs:"]);
    }
}
