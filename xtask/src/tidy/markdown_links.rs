//! Rule: a Markdown link to a file of the repository leads to one. Links to the web and anchors are not followed.

use super::finding::Finding;
use super::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_ending(".md") {
        for (line, target) in links(text) {
            let Some(file) = local(target) else { continue };
            let message = match resolved(path, file) {
                None => format!("`{target}` leads out of the repository"),
                Some(file) if tree.contains(&file) || tree.contains_folder(&file) => continue,
                Some(file) => format!("`{target}` leads to {file}, which does not exist"),
            };
            findings.push(Finding::new(path, line, message));
        }
    }
    findings
}

/// Every link target with its line, outside of code.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| start.starts_with(marker));
        match (fence, marker) {
            (Some(open), Some(marker)) if open == marker => fence = None,
            (Some(_), _) => {}
            (None, Some(marker)) => fence = Some(marker),
            (None, None) => {
                let targets = inline_targets(line).into_iter().chain(definition_target(start));
                found.extend(targets.map(|target| (index + 1, target)));
            }
        }
    }
    found
}

/// The targets of `[text](target)` and `[text](target "title")`.
fn inline_targets(line: &str) -> Vec<&str> {
    let code = code_spans(line);
    let mut targets = Vec::new();
    for (at, _) in line.match_indices("](") {
        if code.iter().any(|span| span.contains(&at)) {
            continue;
        }
        let rest = &line[at + 2..];
        let target = match rest.strip_prefix('<') {
            Some(quoted) => quoted.split('>').next(),
            None => rest.split([')', ' ']).next(),
        };
        targets.extend(target);
    }
    targets
}

/// The target of a `[name]: target` line.
fn definition_target(line: &str) -> Option<&str> {
    let (name, target) = line.strip_prefix('[')?.split_once("]:")?;
    let is_definition = !name.contains(['[', ']']) && !name.starts_with('^');
    is_definition.then(|| target.split_whitespace().next()).flatten()
}

fn code_spans(line: &str) -> Vec<std::ops::Range<usize>> {
    let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    ticks.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The file part of a link into the repository; None for the web, mail and anchors.
fn local(target: &str) -> Option<&str> {
    let file = target.split('#').next().filter(|file| !file.is_empty())?;
    let has_scheme = file.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    (!has_scheme && !file.starts_with("//")).then_some(file)
}

/// The path from the root; None where it climbs above it.
fn resolved(from: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = if file.starts_with('/') {
        Vec::new()
    } else {
        let mut folder: Vec<_> = from.split('/').collect();
        folder.pop();
        folder
    };
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("docs/a.md", text), ("docs/errors/X.md", ""), ("README.md", "")]);
        texts(&check(&tree))
    }

    #[test]
    fn accepts_links_that_lead_somewhere() {
        let text = "[x](errors/X.md#why) [f](errors/) [r](../README.md \"title\") [top](/README.md)\n\
                    [w](https://example.org/x) [m](mailto:a@example.org) [h](#here)\n\
                    [d]: <https://example.org>\n[e]: errors/X.md\n[^1]: a footnote\n";
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn refuses_links_that_lead_nowhere() {
        assert_eq!(
            found("one\n[a](b.md) and [c](errors/Y.md)\n[d]: gone.md\n"),
            [
                "docs/a.md:2: `b.md` leads to docs/b.md, which does not exist",
                "docs/a.md:2: `errors/Y.md` leads to docs/errors/Y.md, which does not exist",
                "docs/a.md:3: `gone.md` leads to docs/gone.md, which does not exist",
            ]
        );
    }

    #[test]
    fn refuses_links_out_of_the_repository() {
        assert_eq!(
            found("[a](../../x.md)\n"),
            ["docs/a.md:1: `../../x.md` leads out of the repository"]
        );
    }

    #[test]
    fn code_holds_no_links() {
        assert_eq!(found("```md\n[a](b.md)\n```\n`[a](b.md)` and `x[i](j)`\n"), [""; 0]);
    }
}
