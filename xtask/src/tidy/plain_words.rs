//! Rule: no function, type, module or file has a name of the table of words that only we understand, and no doc comment
//! is a question word alone. Exceptions are in the table, and one that nothing needs any more is a finding too.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::source;
use super::tables::{PlainWords, TIDY_TABLE};
use super::tree::Tree;

/// What stands before the name of something. A module without a body has its name from its file.
const BEFORE_NAMES: [(&str, &str); 7] = [
    ("enum", "type"),
    ("fn", "function"),
    ("mod", "module"),
    ("struct", "type"),
    ("trait", "type"),
    ("type", "type"),
    ("union", "type"),
];

const QUESTIONS: [&str; 7] = ["How", "What", "When", "Where", "Which", "Who", "Why"];

/// A word that should not be there: in which line, and what is to be done.
struct Offence<'t> {
    word: &'t str,
    line: usize,
    message: String,
}

pub(crate) fn check(tree: &Tree, table: &PlainWords) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = vec![false; table.exceptions.len()];
    for (path, text) in tree.with_ending(".rs").filter(|(path, _)| is_ours(path)) {
        let mut offences = names(text, &table.instead);
        offences.extend(file_name(path, &table.instead));
        offences.extend(questions(text));
        for Offence { word, line, message } in offences {
            let exception = table.exceptions.iter().position(|e| e.path == path && e.word == word);
            match exception.and_then(|index| needed.get_mut(index)) {
                Some(needed) => *needed = true,
                None => findings.push(Finding::new(path, line, message)),
            }
        }
    }
    for (exception, _) in table.exceptions.iter().zip(needed).filter(|(_, needed)| !needed) {
        let quoted = format!("path = \"{}\"", exception.path);
        let line = tree.line_where(TIDY_TABLE, |line| line == quoted);
        let message = format!(
            "`{}` is not in {} and needs no exception (\"{}\")",
            exception.word, exception.path, exception.reason
        );
        findings.push(Finding::new(TIDY_TABLE, line, message));
    }
    findings
}

fn is_ours(path: &str) -> bool {
    super::product_code::parts(path).is_some() || path.starts_with("xtask/")
}

fn names<'t>(text: &str, instead: &'t BTreeMap<String, String>) -> Vec<Offence<'t>> {
    let code = source::masked(text);
    let mut offences = Vec::new();
    for (before, kind) in BEFORE_NAMES {
        for at in source::word_positions(&code, before) {
            let rest = code[at + before.len()..].trim_start();
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            let has_body = before != "mod" || behind.trim_start().starts_with('{');
            if let Some(found) = instead.get_key_value(name).filter(|_| has_body) {
                offences.push(offence(kind, found, source::line_of(&code, at)));
            }
        }
    }
    offences
}

/// The file's own name, or that of the folder whose `mod.rs` it is.
fn file_name<'t>(path: &str, instead: &'t BTreeMap<String, String>) -> Option<Offence<'t>> {
    let path = path.trim_end_matches(".rs");
    let name = path.trim_end_matches("/mod").rsplit('/').next()?;
    instead.get_key_value(name).map(|found| offence("file", found, 1))
}

fn offence<'t>(kind: &str, found: (&'t String, &String), line: usize) -> Offence<'t> {
    let (word, say) = found;
    let message = format!("the {kind} `{word}` does not say what it is; say {say}");
    Offence { word, line, message }
}

/// Doc comments of one line that is one question word.
fn questions(text: &str) -> Vec<Offence<'static>> {
    let mut offences = Vec::new();
    let mut before = "";
    let mut lines = text.lines().map(str::trim).enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let is_doc = |line: &str| line.starts_with("///");
        let is_alone = !is_doc(before) && !lines.peek().is_some_and(|(_, next)| is_doc(next));
        before = line;
        let Some(doc) = line.strip_prefix("///").filter(|_| is_alone) else { continue };
        let said = doc.trim().trim_end_matches(['.', '?']);
        if let Some(word) = QUESTIONS.into_iter().find(|question| *question == said) {
            let message = format!("`{}` is a question; say what a reader has to know", doc.trim());
            offences.push(Offence { word, line: index + 1, message });
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;
    use crate::tidy::tables::PlainWordException;

    fn table(exceptions: &[(&str, &str)]) -> PlainWords {
        let exception = |(path, word): &(&str, &str)| PlainWordException {
            path: (*path).to_owned(),
            word: (*word).to_owned(),
            reason: "why".to_owned(),
        };
        let instead = [("told", "`answer`"), ("Place", "`Address`")];
        PlainWords {
            instead: instead.map(|(word, say)| (word.to_owned(), say.to_owned())).into(),
            exceptions: exceptions.iter().map(exception).collect(),
        }
    }

    fn found(files: &[(&str, &str)], exceptions: &[(&str, &str)]) -> Vec<String> {
        texts(&check(&Tree::of(files), &table(exceptions)))
    }

    const FILE: &str = "crates/x/src/a.rs";

    #[test]
    fn refuses_names_of_the_table() {
        let text = "pub fn told() {}\nstruct Place<'a>(&'a u8);\nmod told {}\nimpl X { type Place = u8; }\n";
        assert_eq!(
            found(&[(FILE, text)], &[]),
            [
                "crates/x/src/a.rs:1: the function `told` does not say what it is; say `answer`",
                "crates/x/src/a.rs:3: the module `told` does not say what it is; say `answer`",
                "crates/x/src/a.rs:2: the type `Place` does not say what it is; say `Address`",
                "crates/x/src/a.rs:4: the type `Place` does not say what it is; say `Address`",
            ]
        );
    }

    #[test]
    fn accepts_uses_longer_names_comments_and_other_folders() {
        let text = "// fn told()\nfn told_apart(told: u8) { x.told(Place) }\nmod told;\nconst A: &str = \"fn told\";\n";
        let elsewhere = ("sdk/told.rs", "fn told() {}\n");
        assert_eq!(found(&[(FILE, text), elsewhere], &[]), [""; 0]);
    }

    #[test]
    fn refuses_files_and_folders_of_such_a_name() {
        let say = "the file `told` does not say what it is; say `answer`";
        let files = ["crates/x/src/told.rs", "crates/x/src/told/mod.rs", "xtask/src/told.rs"];
        for file in files {
            assert_eq!(found(&[(file, "")], &[]), [format!("{file}:1: {say}")]);
        }
        assert_eq!(found(&[("crates/x/src/told/b.rs", "")], &[]), [""; 0]);
    }

    #[test]
    fn refuses_a_doc_that_is_a_question_word() {
        let text = "/// Why.\na: A,\n/// Which?\nb: B,\n\n/// Why.\n/// Because.\nc: C,\n/// Why it is so.\nd: D,\n";
        assert_eq!(
            found(&[(FILE, text)], &[]),
            [
                "crates/x/src/a.rs:1: `Why.` is a question; say what a reader has to know",
                "crates/x/src/a.rs:3: `Which?` is a question; say what a reader has to know",
            ]
        );
    }

    #[test]
    fn an_exception_is_for_one_word_in_one_file() {
        let text = "fn told() {}\n/// Why.\na: A,\n";
        assert_eq!(found(&[(FILE, text)], &[(FILE, "told"), (FILE, "Why")]), [""; 0]);
        assert_eq!(found(&[(FILE, text)], &[("crates/x/src/b.rs", "told")]).len(), 3);
        assert_eq!(
            found(&[(FILE, "")], &[(FILE, "Why")]),
            [
                "xtask/tidy.toml:1: `Why` is not in crates/x/src/a.rs and needs no exception (\"why\")"
            ]
        );
    }
}
