//! Rule: a Rust file has at most 600 lines. Exceptions are in the table, each with its own limit,
//! and an exception that is no longer needed is a finding too.

use super::finding::Finding;
use super::tables::{LongFile, TIDY_TABLE};
use super::tree::Tree;

const LINES_MAX: usize = 600;

pub(crate) fn check(tree: &Tree, exceptions: &[LongFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_ending(".rs") {
        let exception = exceptions.iter().find(|exception| exception.path == path);
        let limit = exception.map_or(LINES_MAX, |exception| exception.max_lines);
        let lines = text.lines().count();
        if lines > limit {
            findings.push(Finding::new(path, limit + 1, format!("{lines} lines, {limit} allowed")));
        }
    }
    for exception in exceptions {
        let lines = tree.text(&exception.path).map_or(0, |text| text.lines().count());
        if lines <= LINES_MAX {
            let line = tree.line_where(TIDY_TABLE, |line| line.contains(&exception.path));
            let message = format!(
                "{} has {lines} lines and needs no exception (\"{}\")",
                exception.path, exception.reason
            );
            findings.push(Finding::new(TIDY_TABLE, line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    fn exception(path: &str, max_lines: usize) -> LongFile {
        LongFile { path: path.to_owned(), max_lines, reason: "a table".to_owned() }
    }

    #[test]
    fn refuses_the_first_line_too_many() {
        let tree =
            Tree::of(&[("fits.rs", &"\n".repeat(LINES_MAX)), ("long.rs", &"\n".repeat(601))]);
        assert_eq!(texts(&check(&tree, &[])), ["long.rs:601: 601 lines, 600 allowed"]);
    }

    #[test]
    fn an_exception_has_a_limit_of_its_own() {
        let tree = Tree::of(&[("a.rs", &"\n".repeat(700)), ("b.rs", &"\n".repeat(701))]);
        let findings = check(&tree, &[exception("a.rs", 700), exception("b.rs", 700)]);
        assert_eq!(texts(&findings), ["b.rs:701: 701 lines, 700 allowed"]);
    }

    #[test]
    fn refuses_an_exception_that_nothing_needs() {
        let table = "[[long_files]]\npath = \"gone.rs\"\n";
        let findings = check(&Tree::of(&[(TIDY_TABLE, table)]), &[exception("gone.rs", 700)]);
        let expected =
            "xtask/tidy.toml:2: gone.rs has 0 lines and needs no exception (\"a table\")";
        assert_eq!(texts(&findings), [expected]);
    }
}
