//! Rule: every error code of the wire has its page `docs/errors/<CODE>.md`, and there is no page without a code.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::source;
use super::tree::Tree;

const CODES: &str = "crates/quipu-wire/src/error/error_code.rs";
const PAGES: &str = "docs/errors/";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(CODES) else {
        return vec![Finding::new(CODES, 1, "the file of the error codes is missing")];
    };
    let codes = codes(text);
    if codes.is_empty() {
        return vec![Finding::new(CODES, 1, "no `=> \"CODE\"` was found, so nothing was checked")];
    }
    let mut findings = Vec::new();
    for (code, line) in &codes {
        let page = format!("{PAGES}{code}.md");
        match tree.text(&page) {
            None => findings.push(Finding::new(CODES, *line, format!("{page} is missing"))),
            Some(text) if text.trim().is_empty() => {
                findings.push(Finding::new(&page, 1, "the page is empty"));
            }
            Some(_) => {}
        }
    }
    for path in tree.paths() {
        let Some(name) = path.strip_prefix(PAGES) else { continue };
        if !name.strip_suffix(".md").is_some_and(|code| codes.contains_key(code)) {
            findings.push(Finding::new(path, 1, "there is no error code of this name"));
        }
    }
    findings
}

/// The codes with their lines: strings behind `=>`, or, in a file written in another way, all that look like codes.
fn codes(text: &str) -> BTreeMap<&str, usize> {
    let tests = source::test_ranges(&source::masked(text));
    let candidates: Vec<(usize, &str)> = source::string_literals(text)
        .into_iter()
        .filter(|(at, literal)| {
            looks_like_a_code(literal) && !tests.iter().any(|range| range.contains(at))
        })
        .collect();
    let is_answer = |at: usize| {
        let before = text[..at - 1].trim_end().trim_end_matches('{').trim_end();
        before.ends_with("=>")
    };
    let answers: Vec<_> = candidates.iter().copied().filter(|(at, _)| is_answer(*at)).collect();
    let chosen = if answers.is_empty() { candidates } else { answers };
    let mut codes = BTreeMap::new();
    for (at, code) in chosen {
        codes.entry(code).or_insert_with(|| source::line_of(text, at));
    }
    codes
}

fn looks_like_a_code(literal: &str) -> bool {
    literal.len() >= 4
        && literal.starts_with(|c: char| c.is_ascii_uppercase())
        && literal.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    const TEXT: &str = "//! `=> \"IN_A_COMMENT\"`\nfn name() -> &'static str {\n    match self {\n        \
                        Self::A => \"AGENT_GONE\",\n        Self::B => {\n            \"UNAUTHENTICATED\"\n        }\n    \
                        }\n}\nconst OTHER: &str = \"NOT_A_CODE\";\nfn f() { x => \"lower case\" }\n\
                        #[cfg(test)]\nmod tests { fn f() { x => \"IN_A_TEST\" } }\n";

    #[test]
    fn finds_the_strings_that_a_match_answers() {
        let expected = [("AGENT_GONE", 4), ("UNAUTHENTICATED", 6)];
        assert_eq!(codes(TEXT).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn finds_codes_that_are_written_in_another_way() {
        let text = "codes! {\n    AgentGone: \"AGENT_GONE\", 404;\n}\n";
        assert_eq!(codes(text).into_iter().collect::<Vec<_>>(), [("AGENT_GONE", 2)]);
    }

    #[test]
    fn refuses_a_code_without_a_page_and_a_page_without_a_code() {
        let tree = Tree::of(&[
            (CODES, TEXT),
            ("docs/errors/UNAUTHENTICATED.md", "\n"),
            ("docs/errors/OLD_CODE.md", "text"),
        ]);
        assert_eq!(
            texts(&check(&tree)),
            [
                "crates/quipu-wire/src/error/error_code.rs:4: docs/errors/AGENT_GONE.md is missing",
                "docs/errors/UNAUTHENTICATED.md:1: the page is empty",
                "docs/errors/OLD_CODE.md:1: there is no error code of this name",
            ]
        );
    }

    #[test]
    fn refuses_to_pass_when_there_is_nothing_to_check() {
        assert_eq!(check(&Tree::of(&[])).len(), 1);
        assert_eq!(check(&Tree::of(&[(CODES, "fn a() {}\n")])).len(), 1);
    }
}
