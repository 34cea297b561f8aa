//! Rule: versions stand in the workspace manifest only, sorted; members take them, and the lints, from there.

use toml::{Table, Value};

use super::finding::Finding;
use super::tree::Tree;

const ROOT: &str = "Cargo.toml";
const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
const INHERITED: [&str; 4] = ["version", "edition", "rust-version", "license"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_order(tree.text(ROOT).unwrap_or_default());
    for (path, text) in tree.with_ending("/Cargo.toml") {
        match text.parse::<Table>() {
            Ok(manifest) => findings.extend(check_member(tree, path, &manifest)),
            Err(error) => findings.push(Finding::new(path, 1, error.message())),
        }
    }
    findings
}

/// Read line by line: the parsed table no longer knows the order.
fn check_order(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    let mut previous = "";
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.trim_end() == "[workspace.dependencies]";
            continue;
        }
        let Some(name) = inside.then(|| key(line)).flatten() else { continue };
        if name < previous {
            let message = format!("`{name}` comes before `{previous}`; keep the list sorted");
            findings.push(Finding::new(ROOT, index + 1, message));
        }
        previous = name;
    }
    findings
}

/// The name that a `name = ..` or `name.key = ..` line begins with.
fn key(line: &str) -> Option<&str> {
    let starts_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !line.starts_with(starts_key) {
        return None;
    }
    let end = line.find(|c: char| !starts_key(c) && c != '-')?;
    Some(&line[..end])
}

fn check_member(tree: &Tree, path: &str, manifest: &Table) -> Vec<Finding> {
    let line_of = |name: &str| tree.line_where(path, |line| key(line) == Some(name));
    let mut findings = Vec::new();
    for (name, dependency) in dependencies(manifest) {
        let message = if dependency.get("version").is_some() {
            format!("`{name}` states a version; it belongs in the workspace manifest")
        } else if !is_inherited(dependency) {
            format!("`{name}` must be taken from the workspace: `{name}.workspace = true`")
        } else {
            continue;
        };
        findings.push(Finding::new(path, line_of(name), message));
    }
    let package = manifest.get("package").and_then(Value::as_table);
    for name in INHERITED {
        if !package.and_then(|package| package.get(name)).is_some_and(is_inherited) {
            let message = format!("`{name}.workspace = true` is missing from [package]");
            findings.push(Finding::new(path, line_of(name), message));
        }
    }
    if !manifest.get("lints").is_some_and(is_inherited) {
        findings.push(Finding::new(path, 1, "[lints] workspace = true is missing"));
    }
    findings
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// Every dependency of every kind, those of a single platform included.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&String, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let per_target = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    std::iter::once(manifest)
        .chain(per_target)
        .flat_map(|table| KINDS.iter().filter_map(|kind| table.get(*kind)?.as_table()))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    const HEAD: &str = "[package]\nname = \"a\"\nversion.workspace = true\nedition.workspace = true\n\
                        rust-version.workspace = true\nlicense.workspace = true\n\
                        [lints]\nworkspace = true\n";

    fn found(rest: &str) -> Vec<String> {
        let text = format!("{HEAD}{rest}");
        texts(&check(&Tree::of(&[("crates/a/Cargo.toml", &text)])))
    }

    #[test]
    fn accepts_what_is_taken_from_the_workspace() {
        let rest = "[dependencies]\nb.workspace = true\n\
                    c = { workspace = true, features = [\"x\"] }\n";
        assert_eq!(found(rest), [""; 0]);
    }

    #[test]
    fn refuses_versions_and_paths_in_a_member() {
        let rest = "[dependencies]\nb = \"1\"\n[dev-dependencies]\nc = { version = \"1\" }\n\
                    [target.'cfg(unix)'.dependencies]\nd = { path = \"x\" }\n";
        assert_eq!(
            found(rest),
            [
                "crates/a/Cargo.toml:10: `b` must be taken from the workspace: `b.workspace = true`",
                "crates/a/Cargo.toml:12: `c` states a version; it belongs in the workspace manifest",
                "crates/a/Cargo.toml:14: `d` must be taken from the workspace: `d.workspace = true`",
            ]
        );
    }

    #[test]
    fn refuses_a_member_with_a_version_or_lints_of_its_own() {
        let text = HEAD
            .replace("version.workspace = true\nedition", "version = \"2.0.0\"\nedition")
            .replace("[lints]\nworkspace = true\n", "");
        assert_eq!(
            texts(&check(&Tree::of(&[("xtask/Cargo.toml", &text)]))),
            [
                "xtask/Cargo.toml:3: `version.workspace = true` is missing from [package]",
                "xtask/Cargo.toml:1: [lints] workspace = true is missing",
            ]
        );
    }

    #[test]
    fn refuses_an_unsorted_list_of_versions() {
        let text =
            "[workspace.dependencies]\na = \"1\"\nc = \"1\"\n# why\nb = \"1\"\n\n[z]\na = 1\n";
        assert_eq!(
            texts(&check(&Tree::of(&[(ROOT, text)]))),
            ["Cargo.toml:5: `b` comes before `c`; keep the list sorted"]
        );
    }
}
