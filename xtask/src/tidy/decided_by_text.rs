//! Rule: code does not decide by what a message says: no comparison of a `message` or a `problem`, and none of a
//! `to_string()` with a literal. Tests may.

use super::finding::Finding;
use super::product_code::ProductCode;
use super::source;

/// What the sentences of errors are called.
const SENTENCES: [&str; 2] = ["message", "problem"];

/// What follows a sentence where its text decides.
const DECIDING: [&str; 6] =
    ["==", "!=", ".contains(", ".starts_with(", ".ends_with(", ".split_once("];

/// What follows a text made on the spot where it decides.
const WITH_LITERAL: [&str; 2] = ["==", "!="];

pub(crate) fn check(code: &ProductCode) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, code) in code.files() {
        let mut places = messages(code);
        places.extend(literals(code));
        let message = "a message is for people; decide by a code, a variant or a type";
        let finding = |at| Finding::new(path, source::line_of(code, at), message);
        findings.extend(places.into_iter().map(finding));
    }
    findings
}

fn messages(code: &str) -> Vec<usize> {
    let decides = |at: usize, word: &str| {
        let rest = code[at + word.len()..].trim_start();
        let rest = rest.strip_prefix("()").unwrap_or(rest).trim_start();
        // A message of its own may be one of a protocol, but a problem is always a sentence.
        let is_sentence = word == "problem" || code[..at].trim_end().ends_with('.');
        is_sentence && DECIDING.iter().any(|way| rest.starts_with(way))
    };
    let of =
        |word| source::word_positions(code, word).into_iter().filter(move |at| decides(*at, word));
    SENTENCES.into_iter().flat_map(of).collect()
}

fn literals(code: &str) -> Vec<usize> {
    let decides = |at: &usize| {
        let Some(rest) = code[at + "to_string".len()..].strip_prefix("()") else { return false };
        let rest = rest.trim_start();
        let other = WITH_LITERAL.iter().find_map(|way| rest.strip_prefix(way));
        other.is_some_and(|other| other.trim_start().starts_with('"'))
    };
    source::word_positions(code, "to_string").into_iter().filter(decides).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;
    use crate::tidy::tree::Tree;

    fn lines(text: &str) -> Vec<String> {
        let code = ProductCode::of(&Tree::of(&[("crates/x/src/a.rs", text)]));
        let line = |text: &String| text.split(':').nth(1).unwrap_or_default().to_owned();
        texts(&check(&code)).iter().map(line).collect()
    }

    #[test]
    fn refuses_decisions_by_a_message() {
        let text = "if error.message == CHANGED {}\nerror.message() != other;\nerror\n    .message\n    \
                    .contains(\"gone\");\nx.message.starts_with('a');\nx.to_string() == \"gone\";\n\
                    problem.split_once(\", got \");\n";
        assert_eq!(lines(text), ["1", "2", "4", "6", "8", "7"]);
    }

    #[test]
    fn accepts_messages_that_are_passed_on() {
        let text = "let message = error.message.clone();\nif message == x {}\nA { message: b.message }\n\
                    id.to_string() == key;\nx.to_string().len();\nother.messages == 1;\n";
        assert_eq!(lines(text), [""; 0]);
    }

    #[test]
    fn tests_may_read_messages() {
        let text = "#[cfg(test)]\nmod tests { fn f() { assert!(x.message == \"a\") } }\n";
        assert_eq!(lines(text), [""; 0]);
    }

    #[test]
    fn says_what_to_do_instead() {
        let code = ProductCode::of(&Tree::of(&[("crates/x/src/a.rs", "a.message == b")]));
        let expected =
            "crates/x/src/a.rs:1: a message is for people; decide by a code, a variant or a type";
        assert_eq!(texts(&check(&code)), [expected]);
    }
}
