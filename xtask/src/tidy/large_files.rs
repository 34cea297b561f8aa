//! Rule: a file of more than 1 MiB is in the table, with the reason why it must be in the repository.

use super::finding::Finding;
use super::tables::{LargeFile, TIDY_TABLE};
use super::tree::Tree;

const BYTES_MAX: usize = 1024 * 1024;

pub(crate) fn check(tree: &Tree, exceptions: &[LargeFile]) -> Vec<Finding> {
    let large: Vec<_> = tree.sizes().filter(|(_, size_bytes)| *size_bytes > BYTES_MAX).collect();
    let mut findings = Vec::new();
    for (path, size_bytes) in &large {
        if !exceptions.iter().any(|exception| exception.path == *path) {
            let message = format!("{size_bytes} bytes, {BYTES_MAX} allowed");
            findings.push(Finding::new(path, 1, message));
        }
    }
    for LargeFile { path, reason } in exceptions {
        if !large.iter().any(|(large, _)| large == path) {
            let line = tree.line_where(TIDY_TABLE, |line| line.contains(path.as_str()));
            let message = format!("{path} is not large and needs no exception (\"{reason}\")");
            findings.push(Finding::new(TIDY_TABLE, line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    fn exception(path: &str) -> LargeFile {
        LargeFile { path: path.to_owned(), reason: "why".to_owned() }
    }

    #[test]
    fn refuses_the_first_byte_too_many() {
        let tree =
            Tree::of(&[("fits", &"x".repeat(BYTES_MAX)), ("large", &"x".repeat(BYTES_MAX + 1))]);
        assert_eq!(texts(&check(&tree, &[])), ["large:1: 1048577 bytes, 1048576 allowed"]);
        assert_eq!(check(&tree, &[exception("large")]), []);
    }

    #[test]
    fn refuses_an_exception_that_nothing_needs() {
        assert_eq!(
            texts(&check(&Tree::of(&[]), &[exception("gone")])),
            ["xtask/tidy.toml:1: gone is not large and needs no exception (\"why\")"]
        );
    }
}
