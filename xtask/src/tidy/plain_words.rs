//! Rule: no function, type, constant, module or file has a word of the table of words that only we understand as its name
//! or as a part of it, and no doc comment of one line is a question word or only repeats the line below it. Exceptions are
//! in the table, and one that nothing needs any more is a finding too.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::source;
use super::tables::{PlainWords, TIDY_TABLE};
use super::tree::Tree;

/// What stands before the name of something. A module without a body has its name from its file.
const BEFORE_NAMES: [(&str, &str); 9] = [
    ("const", "constant"),
    ("enum", "type"),
    ("fn", "function"),
    ("mod", "module"),
    ("static", "constant"),
    ("struct", "type"),
    ("trait", "type"),
    ("type", "type"),
    ("union", "type"),
];

/// A name of more words is a sentence, as tests and conformance cases have them.
const NAME_PARTS_MAX: usize = 3;

/// Words that say nothing beside a name.
const FILLERS: [&str; 9] = ["a", "an", "are", "is", "it", "its", "of", "that", "the"];

/// A file that has one of these may have docs that users read, in the OpenAPI document or in `--help`: they stay.
const FOR_USERS: [&str; 4] = ["ToSchema", "IntoParams", "clap::", "words! {"];

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
        offences.extend(repetitions(text));
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
            if let Some(found) = dialect(name, instead).filter(|_| has_body) {
                offences.push(offence(kind, name, found, source::line_of(&code, at)));
            }
        }
    }
    offences
}

/// The file's own name, or that of the folder whose `mod.rs` it is.
fn file_name<'t>(path: &str, instead: &'t BTreeMap<String, String>) -> Option<Offence<'t>> {
    let path = path.trim_end_matches(".rs");
    let name = path.trim_end_matches("/mod").rsplit('/').next()?;
    dialect(name, instead).map(|found| offence("file", name, found, 1))
}

fn offence<'t>(kind: &str, name: &str, found: (&'t str, &str), line: usize) -> Offence<'t> {
    let (word, say) = found;
    let message = format!("the {kind} `{name}` does not say what it is; say {say}");
    Offence { word, line, message }
}

/// The word of the table that a name is or has as a part, and what to say instead.
fn dialect<'t>(name: &str, instead: &'t BTreeMap<String, String>) -> Option<(&'t str, &'t str)> {
    let parts = parts(name);
    let parts = parts.iter().filter(|_| parts.len() <= NAME_PARTS_MAX);
    let entry = |part: &&str| {
        instead.get_key_value(*part).or_else(|| instead.get_key_value(&part.to_lowercase()))
    };
    parts.filter_map(entry).map(|(word, say)| (word.as_str(), say.as_str())).next()
}

/// The words of a name: `told_twice`, `TOLD_TWICE` and `ToldTwice` have two each.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for word in name.split('_').filter(|word| !word.is_empty()) {
        let mut start = 0;
        for (at, _) in word.match_indices(char::is_uppercase) {
            if word[..at].ends_with(|c: char| !c.is_uppercase()) {
                parts.push(&word[start..at]);
                start = at;
            }
        }
        parts.push(&word[start..]);
    }
    parts
}

/// Doc comments of one line that is one question word.
fn questions(text: &str) -> Vec<Offence<'static>> {
    let mut offences = Vec::new();
    for (line, doc, _) in short_docs(text) {
        let sentence = doc.trim_end_matches(['.', '?']);
        if let Some(word) = QUESTIONS.into_iter().find(|question| *question == sentence) {
            let message = format!("`{doc}` is a question; say what a reader has to know");
            offences.push(Offence { word, line, message });
        }
    }
    offences
}

/// Doc comments of one line whose every word is in the line below them.
fn repetitions(text: &str) -> Vec<Offence<'_>> {
    if FOR_USERS.iter().any(|mark| text.contains(mark)) {
        return Vec::new();
    }
    let mut offences = Vec::new();
    for (line, doc, item) in short_docs(text) {
        let names: Vec<String> = words(item);
        let is_there = |word: &String| {
            names.iter().any(|name| name.trim_end_matches('s') == word.trim_end_matches('s'))
        };
        let says_more =
            words(doc).iter().any(|word| !FILLERS.contains(&word.as_str()) && !is_there(word));
        if !says_more && !doc.contains('`') {
            let message = format!("`{doc}` only repeats what is below it; say more, or nothing");
            offences.push(Offence { word: doc, line, message });
        }
    }
    offences
}

fn words(text: &str) -> Vec<String> {
    let names = text.split(|c: char| !c.is_alphabetic() && c != '_');
    names.flat_map(parts).map(str::to_lowercase).collect()
}

/// Doc comments of one line, each with the number of its line and the line of what it describes.
fn short_docs(text: &str) -> Vec<(usize, &str, &str)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let doc = |at: usize| lines.get(at).and_then(|line| line.strip_prefix("///"));
    let mut docs = Vec::new();
    for at in (0..lines.len()).filter(|at| doc(at + 1).is_none()) {
        let is_alone = at.checked_sub(1).is_none_or(|before| doc(before).is_none());
        let item = lines[at + 1..].iter().find(|line| !line.starts_with("#[")).copied();
        if let Some(doc) = doc(at).filter(|_| is_alone) {
            docs.push((at + 1, doc.trim(), item.unwrap_or_default()));
        }
    }
    docs
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
    fn refuses_them_as_parts_of_longer_names() {
        let text = "fn was_told() {}\nconst UNSEEN_TOLD: u8 = 1;\nstruct EventPlace;\nenum ToldTwice {}\n\
                    fn place_of() {}\nstruct Replace;\nfn a_sentence_that_is_told() {}\n";
        let lines = |text: &String| text.split(" does").next().unwrap_or_default().to_owned();
        assert_eq!(
            found(&[(FILE, text)], &[]).iter().map(lines).collect::<Vec<_>>(),
            [
                "crates/x/src/a.rs:2: the constant `UNSEEN_TOLD`",
                "crates/x/src/a.rs:4: the type `ToldTwice`",
                "crates/x/src/a.rs:1: the function `was_told`",
                "crates/x/src/a.rs:3: the type `EventPlace`",
            ]
        );
    }

    #[test]
    fn refuses_a_doc_that_repeats_what_is_below_it() {
        let text = "/// The unit ids.\n#[must_use]\nfn unit_ids() {}\n/// Its port.\nport: u16,\n/// The first port.\n\
                    port: u16,\n/// The `port`.\nport: u16,\n/// Its port.\n/// It is free.\nport: u16,\n";
        let why = "only repeats what is below it; say more, or nothing";
        assert_eq!(
            found(&[(FILE, text)], &[]),
            [
                format!("crates/x/src/a.rs:1: `The unit ids.` {why}"),
                format!("crates/x/src/a.rs:4: `Its port.` {why}"),
            ]
        );
        let for_users = format!("#[derive(ToSchema)]\n{text}");
        assert_eq!(found(&[(FILE, &for_users)], &[]), [""; 0]);
    }

    #[test]
    fn accepts_uses_sentences_comments_and_other_folders() {
        let text = "// fn told()\nfn told_apart_by_two(told: u8) { x.told(Place) }\nmod told;\nconst A: &str = \"fn told\";\n";
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
