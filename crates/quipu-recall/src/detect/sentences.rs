//! The prose of a text, sentence by sentence. Code, tables, encoded data and questions state nothing that
//! could be held against anybody, and are left out.

use crate::limits::{MAX_STATEMENT_BYTES, MAX_STATEMENT_SOURCE_BYTES, MAX_STATEMENTS};

/// Words that end in a full stop without ending a sentence, in lower case.
const ABBREVIATIONS: &[&str] =
    &["approx", "cf", "dr", "e.g", "etc", "fig", "i.e", "inc", "jr", "mr", "mrs", "no", "st", "vs"];

/// Words that begin a question.
const OPENERS: &[&str] = &[
    "am", "any", "are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "may",
    "might", "shall", "should", "was", "were", "what", "when", "where", "which", "who", "why",
    "will", "would",
];

/// The sentences of `text` that state something, at most [`MAX_STATEMENTS`].
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let source = text.get(..text.floor_char_boundary(MAX_STATEMENT_SOURCE_BYTES)).unwrap_or(text);
    let mut found = Vec::new();
    let mut in_code = false;
    for line in source.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        let item = line.trim_start_matches(|c: char| "-*>•+ ".contains(c) || c.is_ascii_digit());
        let item = item.strip_prefix(['.', ')']).unwrap_or(item);
        let listed = item.len() < line.len() && item.starts_with([' ', '*', '`', '"'])
            || line.starts_with(['-', '*', '•']);
        let (prose, before) = (if listed { item } else { line }, found.len());
        split(prose, &mut found);
        if listed {
            // Most items of lists are steps and headings; a claim has a verb that says so.
            let claims = found.split_off(before).into_iter().filter(|item| has_finite_verb(item));
            found.extend(claims);
        }
        if found.len() >= MAX_STATEMENTS {
            found.truncate(MAX_STATEMENTS);
            break;
        }
    }
    found
}

fn has_finite_verb(sentence: &str) -> bool {
    sentence.split(' ').any(|word| {
        matches!(
            word,
            "is" | "are"
                | "was"
                | "were"
                | "has"
                | "have"
                | "had"
                | "does"
                | "did"
                | "will"
                | "cannot"
        ) || word.ends_with("n't")
    })
}

fn split<'text>(line: &'text str, found: &mut Vec<&'text str>) {
    let mut start = 0;
    for (at, mark) in line.char_indices() {
        if !matches!(mark, '.' | '!' | '?' | ';' | '。' | '！' | '？') {
            continue;
        }
        let end = at + mark.len_utf8();
        let rest = line.get(end..).unwrap_or_default();
        let ends = mark != '.'
            || rest.is_empty()
            || (rest.starts_with([' ', '"', '”', ')', '\t']) && !is_abbreviation(line, at));
        if ends {
            keep(line.get(start..end).unwrap_or_default(), found);
            start = end;
        }
    }
    keep(line.get(start..).unwrap_or_default(), found);
}

fn is_abbreviation(line: &str, full_stop: usize) -> bool {
    let before = line.get(..full_stop).unwrap_or_default();
    let word = before.rsplit([' ', '(']).next().unwrap_or_default().to_lowercase();
    ABBREVIATIONS.contains(&word.as_str())
        || (word.chars().count() == 1 && word.chars().all(char::is_alphabetic))
}

fn keep<'text>(sentence: &'text str, found: &mut Vec<&'text str>) {
    let sentence = before_question(sentence.trim());
    if is_statement(sentence) {
        found.push(sentence);
    }
}

/// What is stated before the question in "I have never met her, how do I write to her?".
fn before_question(sentence: &str) -> &str {
    if !sentence.ends_with(['?', '？']) {
        return sentence;
    }
    let breaks = sentence.match_indices(|c: char| matches!(c, ',' | ':' | '—')).map(|(at, _)| at);
    let asks = breaks.into_iter().find(|at| {
        let rest = sentence.get(*at..).unwrap_or_default();
        let words = rest.split(|c: char| !c.is_alphanumeric() && c != '\'');
        let mut words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
        let opener =
            words.find(|word| !matches!(word.as_str(), "so" | "and" | "but" | "then" | "now"));
        opener.is_some_and(|word| OPENERS.contains(&word.as_str()))
    });
    // Without a break before it, all of the sentence is the question.
    asks.and_then(|at| sentence.get(..at)).filter(|stated| stated.contains(' ')).unwrap_or(sentence)
}

/// Whether it reads like a sentence that claims something.
fn is_statement(sentence: &str) -> bool {
    if sentence.len() < 4
        || sentence.len() > MAX_STATEMENT_BYTES
        || sentence.ends_with(['?', '？'])
        || sentence.starts_with(['[', '|', '<', '{'])
    {
        return false;
    }
    let (mut letters, mut odd, mut spaces) = (0_usize, 0_usize, 0_usize);
    for mark in sentence.chars() {
        if mark.is_alphanumeric() {
            letters += 1;
        } else if mark.is_whitespace() {
            spaces += 1;
        } else if matches!(mark, '{' | '}' | '=' | '<' | '>' | '|' | '\\' | '[' | ']' | ';' | '_') {
            odd += 1;
        }
    }
    // Annotations in brackets and tables are no prose either. Prose is mostly letters, has a space every dozen of them, and hardly any brackets.
    letters * 2 > sentence.chars().count()
        && spaces >= 1
        && letters < spaces * 24
        && odd * 16 <= letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_split_and_everything_else_is_left_out() {
        for (text, expected) in [
            ("", &[][..]),
            ("The port is 8080. It is open!", &["The port is 8080.", "It is open!"]),
            ("Is the port 8080? It is.", &["It is."]),
            ("I have never met her, so how do I write to her?", &["I have never met her"]),
            (
                "See e.g. the port. Dr. No is 3.5 m tall.",
                &["See e.g. the port.", "Dr. No is 3.5 m tall."],
            ),
            (
                "Use this:\n```\nlet port = 8080;\n```\nThe port is open.",
                &["Use this:", "The port is open."],
            ),
            ("- The port is open\n2. The host is down", &["The port is open", "The host is down"]),
            ("# How to\n1. Open the port\n- Set it to 8080", &[]),
            ("if (x == 1) { return y[0]; }", &[]),
            ("aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=", &[]),
            ("🚀🚀 🎉🎉🎉", &[]),
        ] {
            assert_eq!(sentences(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_huge_text_gives_a_bounded_number_of_sentences() {
        assert_eq!(sentences(&"It is so. ".repeat(100_000)).len(), MAX_STATEMENTS);
        assert!(sentences(&"word ".repeat(100_000)).is_empty());
    }
}
