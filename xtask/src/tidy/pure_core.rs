//! Rule: a crate of the table `pure` in `xtask/deps.toml` has only the dependencies that it says, is built from none of
//! the packages and names none of the words that it bans. Tests may. A crate that is not there yet is passed over.

use std::collections::BTreeMap;

use super::built_from::BuiltFrom;
use super::finding::Finding;
use super::metadata::Metadata;
use super::paths::{self, NamedPath};
use super::product_code::ProductCode;
use super::source;
use super::tables::PureCrate;
use super::tree::Tree;

type PureTable = BTreeMap<String, PureCrate>;

pub(crate) fn check(
    tree: &Tree,
    metadata: &Metadata,
    built_from: &BuiltFrom,
    code: &ProductCode,
    table: &PureTable,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (crate_name, pure) in table {
        if !tree.contains_folder(&format!("crates/{crate_name}")) {
            continue;
        }
        findings.extend(dependencies(tree, metadata, crate_name, pure));
        findings.extend(build_script(tree, crate_name));
        findings.extend(packages(built_from, crate_name, pure));
        findings.extend(words(code, crate_name, pure));
    }
    findings
}

fn dependencies(
    tree: &Tree,
    metadata: &Metadata,
    crate_name: &str,
    pure: &PureCrate,
) -> Vec<Finding> {
    let packages = metadata.members().filter(|package| package.name == crate_name);
    let needed = packages.flat_map(|package| {
        let for_tests = |kind: &Option<String>| kind.as_deref() == Some("dev");
        let dependencies = package.dependencies.iter().filter(move |found| !for_tests(&found.kind));
        dependencies.map(|found| (metadata.manifest(package), found.name.as_str()))
    });
    needed
        .filter(|(_, name)| !pure.dependencies.iter().any(|allowed| allowed == name))
        .map(|(manifest, name)| {
            let line = tree.line_where(manifest, |line| line.starts_with(name));
            Finding::new(manifest, line, format!("{crate_name} is pure and may not need {name}"))
        })
        .collect()
}

/// What runs before the crate is built could make anything of it.
fn build_script(tree: &Tree, crate_name: &str) -> Option<Finding> {
    let path = format!("crates/{crate_name}/build.rs");
    let message = format!("{crate_name} is pure and may not have a build script");
    tree.contains(&path).then(|| Finding::new(&path, 1, message))
}

fn packages(built_from: &BuiltFrom, crate_name: &str, pure: &PureCrate) -> Vec<Finding> {
    let is_banned = |name: &&str| pure.banned_packages.iter().any(|banned| banned == name);
    let finding = |name: &str| {
        let message = format!(
            "{crate_name} is pure and may not be built from {name}; \
             `cargo tree -p {crate_name} -e normal -i {name}` says what brings it"
        );
        Finding::new(&format!("crates/{crate_name}/Cargo.toml"), 1, message)
    };
    built_from.packages(crate_name).filter(is_banned).map(finding).collect()
}

fn words(code: &ProductCode, crate_name: &str, pure: &PureCrate) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, code) in code.of_crate(crate_name) {
        for banned in &pure.banned {
            let finding = |at| {
                let path = format!("crates/{crate_name}/src/{file}");
                let message = format!("{crate_name} is pure and may not name `{banned}`");
                Finding::new(&path, source::line_of(code, at), message)
            };
            findings.extend(places(code, banned).into_iter().map(finding));
        }
    }
    findings
}

/// Where the code names a word, or a path such as `std::fs`, also by a group such as `std::{fs, io}`, by a glob of what it
/// is in, or by another name for that.
fn places(code: &str, banned: &str) -> Vec<usize> {
    let segments: Vec<_> = banned.split("::").collect();
    let [first, _, ..] = segments.as_slice() else { return source::word_positions(code, banned) };
    let paths = paths::beginning_with(code, &[first]);
    let found = paths.iter().filter(|path| may_name(path, &segments)).map(|path| path.at);
    let renamed = paths::imported(code);
    let renamed = renamed.iter().filter(|it| it.segments == [*first] && it.alias.is_some());
    found.chain(renamed.map(|path| path.at)).collect()
}

fn may_name(path: &NamedPath<'_>, banned: &[&str]) -> bool {
    let hides = match path.segments.as_slice() {
        [above @ .., "*"] => banned.starts_with(above),
        [above @ .., "self"] => path.alias.is_some() && banned.starts_with(above),
        _ => false,
    };
    hides || path.segments.starts_with(banned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;
    use crate::tidy::metadata::workspace;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn table(crate_name: &str) -> PureTable {
        let pure = PureCrate {
            dependencies: owned(&["serde"]),
            banned_packages: owned(&["tokio"]),
            banned: owned(&["async", "tokio", "std::fs", "Instant"]),
        };
        [(crate_name.to_owned(), pure)].into()
    }

    fn named(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/core/src/a.rs", text)]);
        let code = ProductCode::of(&tree);
        let findings =
            check(&tree, &workspace(&[], &[]), &BuiltFrom::default(), &code, &table("core"));
        texts(&findings)
    }

    #[test]
    fn refuses_words_and_paths_of_the_table() {
        let text = "use std::{\n    io,\n    fs::File,\n};\nfn a(now: Instant) { tokio::spawn(b) }\n\
                    fn b() { ::std::fs::read(c) }\nasync fn d() {}\n";
        let expected = [
            "crates/core/src/a.rs:7: core is pure and may not name `async`",
            "crates/core/src/a.rs:5: core is pure and may not name `tokio`",
            "crates/core/src/a.rs:3: core is pure and may not name `std::fs`",
            "crates/core/src/a.rs:6: core is pure and may not name `std::fs`",
            "crates/core/src/a.rs:5: core is pure and may not name `Instant`",
        ];
        assert_eq!(named(text), expected);
    }

    #[test]
    fn refuses_what_hides_which_paths_of_the_table_are_named() {
        let named = |text: &str| named(text).len();
        for text in ["use std::*;\n", "use std as s;\n", "use std::{self as s, fmt};\n"] {
            assert_eq!(named(text), 1, "{text}");
        }
        assert_eq!(named("use std::{self, fmt::*, collections::{self as c, *}};\n"), 0);
    }

    #[test]
    fn tests_comments_strings_and_longer_words_are_free() {
        let text = "//! No Instant, no tokio.\nfn a(b: Instantly) { c(\"tokio\", std::fmt::fs) }\n\
                    #[cfg(test)]\nmod tests {\n    use std::time::Instant;\n}\n";
        assert_eq!(named(text), [""; 0]);
    }

    #[test]
    fn refuses_a_dependency_that_the_table_does_not_have() {
        let dependencies =
            [("serde", None), ("tokio", None), ("proptest", Some("dev")), ("cc", Some("build"))];
        let metadata = workspace(&[("core", &dependencies)], &[]);
        let manifest = "[dependencies]\nserde.workspace = true\ntokio.workspace = true\n";
        let files = [("crates/core/Cargo.toml", manifest), ("crates/core/build.rs", "")];
        let tree = Tree::of(&files);
        let (code, built_from) = (ProductCode::default(), BuiltFrom::default());
        assert_eq!(
            texts(&check(&tree, &metadata, &built_from, &code, &table("core"))),
            [
                "crates/core/Cargo.toml:3: core is pure and may not need tokio",
                "crates/core/Cargo.toml:1: core is pure and may not need cc",
                "crates/core/build.rs:1: core is pure and may not have a build script",
            ]
        );
    }

    #[test]
    fn refuses_a_package_that_comes_with_a_dependency() {
        let tree = Tree::of(&[("crates/core/Cargo.toml", "")]);
        let built_from =
            BuiltFrom::listed("core", "core v0.1.0 (/r)\nserde v1.0.0\ntokio v1.0.0 (*)\n");
        let findings = check(
            &tree,
            &workspace(&[], &[]),
            &built_from,
            &ProductCode::default(),
            &table("core"),
        );
        assert_eq!(
            texts(&findings),
            ["crates/core/Cargo.toml:1: core is pure and may not be built from tokio; \
              `cargo tree -p core -e normal -i tokio` says what brings it"]
        );
    }

    #[test]
    fn a_crate_that_is_not_there_yet_is_passed_over() {
        let built_from = BuiltFrom::listed("core", "tokio v1.0.0\n");
        let (tree, code) = (Tree::of(&[]), ProductCode::default());
        assert_eq!(check(&tree, &workspace(&[], &[]), &built_from, &code, &table("core")), []);
    }
}
