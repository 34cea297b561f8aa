//! Rule: a `mod.rs` holds docs, attributes, `mod name;` and `use` items only.

use super::finding::Finding;
use super::source;
use super::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_ending("mod.rs")
        .filter(|(path, _)| path.rsplit('/').next() == Some("mod.rs"))
        .flat_map(|(path, text)| check_file(path, text))
        .collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let code = without_attributes(&source::masked(text));
    let mut findings = Vec::new();
    let mut at = 0;
    while let Some(offset) = code[at..].find(|c: char| !c.is_whitespace() && c != ';') {
        let start = at + offset;
        let (allowed, end) = judge(&code, start);
        if !allowed {
            let head: Vec<_> = code[start..end].split_whitespace().take(3).collect();
            let message = format!("`{} ..` belongs in a file with a name", head.join(" "));
            findings.push(Finding::new(path, source::line_of(text, start), message));
        }
        at = end;
    }
    findings
}

/// Whether the item at `start` may stand in a `mod.rs`, and where it ends.
fn judge(code: &str, start: usize) -> (bool, usize) {
    let item = &code[start..];
    let statement_end = start + item.find(';').map_or(item.len(), |at| at + 1);
    match first_word(without_visibility(item)) {
        // The braces of a `use` do not end it.
        "use" => (true, statement_end),
        "mod" if !code[start..statement_end].contains('{') => (true, statement_end),
        _ => (false, source::item_end(code, start)),
    }
}

fn without_visibility(item: &str) -> &str {
    if first_word(item) != "pub" {
        return item;
    }
    let rest = item["pub".len()..].trim_start();
    match source::closing(rest, 0) {
        Some(close) if rest.starts_with('(') => rest[close + 1..].trim_start(),
        Some(_) | None => rest,
    }
}

fn first_word(item: &str) -> &str {
    let end = item.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(item.len());
    &item[..end]
}

fn without_attributes(masked: &str) -> String {
    let mut code = masked.to_owned();
    for attribute in source::attributes(masked) {
        let blank: String = masked[attribute.span.clone()]
            .bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
            .collect();
        code.replace_range(attribute.span, &blank);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    fn found(text: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[("a/mod.rs", text)])))
    }

    #[test]
    fn accepts_docs_attributes_modules_and_uses() {
        let text = "//! Doc; fn not_code() {}\n#![expect(x, reason = \"y\")]\n\n\
                    mod a;\n/// B.\npub mod b;\n#[cfg(test)]\nmod tests;\n\
                    pub(crate) use a::{A, B};\npub use b::*;\n";
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn refuses_every_other_item_at_its_line() {
        let text = "//! Doc.\nmod a;\n\npub fn f() -> u8 { 1 }\nconst X: A = A { b: 1 };\nmod b;\n";
        assert_eq!(
            found(text),
            [
                "a/mod.rs:4: `pub fn f() ..` belongs in a file with a name",
                "a/mod.rs:5: `const X: A ..` belongs in a file with a name",
            ]
        );
    }

    #[test]
    fn refuses_a_module_with_a_body() {
        assert_eq!(
            found("//! Doc.\nmod tests { fn a() {} }\n"),
            ["a/mod.rs:2: `mod tests { ..` belongs in a file with a name"]
        );
    }

    #[test]
    fn looks_only_at_files_of_that_name() {
        assert_eq!(check(&Tree::of(&[("a/lib.rs", "fn f() {}"), ("a/xmod.rs", "fn f() {}")])), []);
    }
}
