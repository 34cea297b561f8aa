//! Rule: no skipped tests, no `#[should_panic]`, no `todo!`, no `matches!(..);` whose answer is dropped,
//! and no sleeping in test code, but for the files of the table that can only ask again and again.

use super::finding::Finding;
use super::source;
use super::tables::{TIDY_TABLE, TestWait};
use super::tree::Tree;

pub(crate) fn check(tree: &Tree, may_wait: &[TestWait]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = vec![false; may_wait.len()];
    for (path, text) in tree.with_ending(".rs") {
        let masked = source::masked(text);
        findings.extend(check_file(path, text, &masked));
        let waits = sleeps(path, &masked);
        match may_wait.iter().position(|exception| exception.path == path) {
            Some(exception) => needed[exception] = !waits.is_empty(),
            None => findings.extend(
                waits
                    .into_iter()
                    .map(|(at, message)| Finding::new(path, source::line_of(text, at), message)),
            ),
        }
    }
    for (exception, _) in may_wait.iter().zip(needed).filter(|(_, needed)| !needed) {
        let line = tree.line_where(TIDY_TABLE, |line| line.contains(&exception.path));
        let TestWait { path, reason } = exception;
        let message =
            format!("{path} does not wait for a while and needs no exception (\"{reason}\")");
        findings.push(Finding::new(TIDY_TABLE, line, message));
    }
    findings
}

fn check_file(path: &str, text: &str, masked: &str) -> Vec<Finding> {
    let mut places = attributes(masked);
    places.extend(todos(masked));
    places.extend(bare_matches(masked));
    let finding = |(at, message)| Finding::new(path, source::line_of(text, at), message);
    places.into_iter().map(finding).collect()
}

type Complaint = (usize, &'static str);

fn attributes(masked: &str) -> Vec<Complaint> {
    let mut places = Vec::new();
    for attribute in source::attributes(masked) {
        let content = &attribute.content;
        let names = |word: &str| {
            let name = content.split(['(', '=']).next();
            name == Some(word) || (name == Some("cfg_attr") && source::has_word(content, word))
        };
        if names("ignore") {
            places.push((attribute.span.start, "an ignored test is not run; fix it or remove it"));
        }
        if names("should_panic") {
            let message = "any panic satisfies `should_panic`; assert on the error itself";
            places.push((attribute.span.start, message));
        }
    }
    places
}

fn todos(masked: &str) -> Vec<Complaint> {
    let is_call = |at: &usize| masked[at + "todo".len()..].starts_with('!');
    let places = source::word_positions(masked, "todo");
    places.into_iter().filter(is_call).map(|at| (at, "`todo!` panics; finish it")).collect()
}

/// `matches!(..);` as a statement: its answer goes nowhere.
fn bare_matches(masked: &str) -> Vec<Complaint> {
    let is_bare = |at: &usize| {
        let open = at + "matches!".len();
        let before = masked[..*at].trim_end().chars().next_back();
        let starts_statement = before.is_none_or(|c| matches!(c, ';' | '{' | '}'));
        let Some(close) = source::closing(masked, open) else { return false };
        starts_statement && masked[close + 1..].trim_start().starts_with(';')
    };
    let is_macro = |at: &usize| {
        let rest = &masked[at + "matches".len()..];
        rest.starts_with("!(") || rest.starts_with("![") || rest.starts_with("!{")
    };
    source::word_positions(masked, "matches")
        .into_iter()
        .filter(is_macro)
        .filter(is_bare)
        .map(|at| (at, "this `matches!` asserts nothing; wrap it in `assert!`"))
        .collect()
}

fn sleeps(path: &str, masked: &str) -> Vec<Complaint> {
    let whole_file =
        path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs");
    let ranges = if whole_file {
        std::iter::once(0..masked.len()).collect()
    } else {
        source::test_ranges(masked)
    };
    let is_sleep = |at: &usize, word: &str| {
        let is_method = masked[..*at].ends_with('.');
        let is_definition = masked[..*at].trim_end().ends_with("fn");
        let is_call = masked[at + word.len()..].starts_with('(');
        is_call && !is_method && !is_definition && ranges.iter().any(|range| range.contains(at))
    };
    ["park_timeout", "sleep", "sleep_until", "sleep_ms"]
        .into_iter()
        .flat_map(|word| {
            let places = source::word_positions(masked, word);
            places.into_iter().filter(move |at| is_sleep(at, word)).collect::<Vec<_>>()
        })
        .map(|at| (at, "a test waits for an event, never for a while; one bounded loop that asks again is enough for all"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let tree = Tree::of(&[(path, text)]);
        let mut lines: Vec<usize> = check(&tree, &[])
            .iter()
            .map(|finding| finding.to_string().split(':').nth(1).unwrap().parse().unwrap())
            .collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn refuses_skipped_and_panicking_tests() {
        let text = "#[test]\n#[ignore]\nfn a() {}\n#[ignore = \"slow\"]\n#[should_panic(expected = \"x\")]\n\
                    #[cfg_attr(miri, ignore)]\n#[ignored]\nfn b() {}\n";
        assert_eq!(lines("a.rs", text), [2, 4, 5, 6]);
    }

    #[test]
    fn refuses_todo_but_not_the_word() {
        assert_eq!(lines("a.rs", "// todo!()\nfn todo() {}\nfn b() { todo!() }\n"), [3]);
    }

    #[test]
    fn refuses_a_matches_whose_answer_is_dropped() {
        let text = "fn a() {\n    matches!(x, Some(_));\n    assert!(matches!(x, None));\n    \
                    let y = matches!(x, None);\n    f();\n    matches!(\n        x,\n        None\n    );\n    \
                    matches!(x, None)\n}\n";
        assert_eq!(lines("a.rs", text), [2, 6]);
    }

    #[test]
    fn refuses_sleeping_in_test_code_only() {
        let text = "fn a() { tokio::time::sleep(d); }\n#[cfg(test)]\nmod tests {\n    \
                    fn b() { std::thread::sleep(d); }\n    async fn c() { sleep(d).await; }\n    \
                    fn d() { clock.sleep(d); asleep(); }\n}\n";
        assert_eq!(lines("src/a.rs", text), [4, 5]);
        assert_eq!(lines("crates/x/tests/a.rs", text), [1, 4, 5]);
        assert_eq!(lines("crates/x/src/op/tests.rs", "fn a() { thread::sleep(d); }\n"), [1]);
    }

    #[test]
    fn a_parked_thread_sleeps_too_unless_its_file_may_and_an_exception_without_need_is_a_finding() {
        let text = "fn a() { std::thread::park_timeout(d); }\n";
        assert_eq!(lines("tests/a.rs", text), [1]);
        let tree = Tree::of(&[("tests/a.rs", text), (TIDY_TABLE, "path = \"tests/b.rs\"\n")]);
        let may = |path: &str| TestWait { path: path.to_owned(), reason: "a poll".to_owned() };
        assert!(check(&tree, &[may("tests/a.rs")]).is_empty());
        let findings = check(&tree, &[may("tests/a.rs"), may("tests/b.rs")]);
        let [unused] = findings.as_slice() else { panic!("{}", findings.len()) };
        assert!(unused.to_string().contains("tests/b.rs does not wait"), "{unused}");
    }

    #[test]
    fn what_stands_in_a_string_is_not_code() {
        assert_eq!(
            lines("tests/a.rs", "const X: &str = \"#[ignore] todo!() sleep(1)\";\n"),
            [0; 0]
        );
    }
}
