//! Rule: ARCHITECTURE.md is a map. It is short, and every file and folder that it names is there.
//! `core/rules/` in it is `crates/quipu-core/src/rules/`; a bare `plan.rs` is a file of that name somewhere.

use super::finding::Finding;
use super::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";
const WORDS_MAX: usize = 1800;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(MAP) else { return Vec::new() };
    let mut findings = Vec::new();
    let words = text.split_whitespace().count();
    if words > WORDS_MAX {
        findings.push(Finding::new(MAP, 1, format!("{words} words, {WORDS_MAX} allowed")));
    }
    for (line, path) in named_paths(text) {
        if !is_there(tree, path) {
            findings.push(Finding::new(MAP, line, format!("{path} is not there")));
        }
    }
    findings
}

/// What stands between backticks and looks like a file or a folder, with its line.
fn named_paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(index, line)| {
        let quoted = line.split('`').skip(1).step_by(2);
        quoted.filter(|path| looks_like_a_path(path)).map(move |path| (index + 1, path))
    })
}

fn looks_like_a_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-/.".contains(c);
    // `x.rs` stands for an operation's name in the instructions.
    let is_example = text.ends_with("/x.rs");
    let is_named = text.ends_with(".rs") || text.contains('/');
    text.chars().all(plain) && is_named && !is_example
}

fn is_there(tree: &Tree, path: &str) -> bool {
    let exists = |path: &str| tree.contains(path) || tree.contains_folder(path);
    let path = path.trim_end_matches('/');
    if exists(path) {
        return true;
    }
    match path.split_once('/') {
        Some((short, inside)) => {
            exists(&format!("crates/quipu-{short}/src/{inside}"))
                || exists(&format!("crates/quipu-{short}/{inside}"))
        }
        None => tree.paths().any(|file| file.ends_with(&format!("/{path}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    fn check_map(text: &str) -> Vec<String> {
        let files = ["crates/quipu-core/src/rules/record.rs", "crates/quipu-field/tests/a.rs"];
        let mut files: Vec<_> = files.iter().map(|path| (*path, "")).collect();
        files.push((MAP, text));
        texts(&check(&Tree::of(&files)))
    }

    #[test]
    fn finds_what_is_named_and_not_there() {
        assert_eq!(
            check_map(
                "`core/rules/record.rs`, `record.rs`, `core/rules/`, `field/tests`\n`log/gone.rs` `gone.rs`"
            ),
            [
                "ARCHITECTURE.md:2: log/gone.rs is not there",
                "ARCHITECTURE.md:2: gone.rs is not there"
            ]
        );
    }

    #[test]
    fn code_and_examples_are_not_paths() {
        assert!(check_map("`cargo run`, `Field::record`, `core/rules/x.rs`, `kind`").is_empty());
    }

    #[test]
    fn a_map_has_at_most_1800_words() {
        assert!(check_map(&"word ".repeat(WORDS_MAX)).is_empty());
        assert_eq!(
            check_map(&"word ".repeat(WORDS_MAX + 1)),
            ["ARCHITECTURE.md:1: 1801 words, 1800 allowed"]
        );
    }
}
