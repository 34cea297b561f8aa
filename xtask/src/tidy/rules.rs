//! The list of rules with their reasons, and how their findings are shown. Each rule's code is in its own file.

use std::path::Path;

use super::built_from::BuiltFrom;
use super::finding::Finding;
use super::metadata::Metadata;
use super::product_code::ProductCode;
use super::tables::Tables;
use super::tree::Tree;
use super::{
    banned_words, crate_edges, decided_by_text, dependency_budgets, dependency_page, duplicates,
    error_pages, file_length, file_names, large_files, licences, manifests, map, markdown_links,
    mod_files, opening_doc, operation_matrix, plain_words, pure_core, room_cycles, src_entries,
    test_hygiene,
};

/// What the rules judge.
pub(super) struct Repository {
    pub(super) tree: Tree,
    pub(super) code: ProductCode,
    pub(super) tables: Tables,
    pub(super) metadata: Metadata,
    pub(super) built_from: BuiltFrom,
}

struct Rule {
    name: &'static str,
    reason: &'static str,
    check: fn(&Repository) -> Vec<Finding>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "opening-doc",
        reason: "a reader must learn from the first lines what a file owns",
        check: |r| opening_doc::check(&r.tree),
    },
    Rule {
        name: "file-length",
        reason: "a long file is several files that nobody separated",
        check: |r| file_length::check(&r.tree, &r.tables.tidy.long_files),
    },
    Rule {
        name: "file-names",
        reason: "a name that means nothing collects everything",
        check: |r| file_names::check(&r.tree),
    },
    Rule {
        name: "mod-files",
        reason: "mod.rs is a table of contents; code in it cannot be found by name",
        check: |r| mod_files::check(&r.tree),
    },
    Rule {
        name: "test-hygiene",
        reason: "a test that is skipped, cannot fail or waits for a while proves nothing",
        check: |r| test_hygiene::check(&r.tree, &r.tables.tidy.test_waits),
    },
    Rule {
        name: "banned-words",
        reason: "the repository must make sense, and build, on any machine",
        check: |r| banned_words::check(&r.tree),
    },
    Rule {
        name: "room-cycles",
        reason: "rooms that need each other are one room, and can only be read whole",
        check: |r| room_cycles::check(&r.tree, &r.code, &r.tables.tidy.room_cycles),
    },
    Rule {
        name: "src-entries",
        reason: "whoever opens a crate must see its parts at a glance",
        check: |r| src_entries::check(&r.tree),
    },
    Rule {
        name: "pure-core",
        reason: "what decides must do the same from the same events, on any machine, at any time",
        check: |r| {
            pure_core::check(&r.tree, &r.metadata, &r.built_from, &r.code, &r.tables.deps.pure)
        },
    },
    Rule {
        name: "decided-by-text",
        reason: "a message is for people, and better wording must not change what happens",
        check: |r| decided_by_text::check(&r.code),
    },
    Rule {
        name: "plain-words",
        reason: "a name must make sense to who reads it for the first time",
        check: |r| plain_words::check(&r.tree, &r.tables.tidy.plain_words),
    },
    Rule {
        name: "crate-edges",
        reason: "which crate may know which is decided in xtask/deps.toml, not by accident",
        check: |r| crate_edges::check(&r.tree, &r.metadata, &r.tables.deps),
    },
    Rule {
        name: "dependency-budgets",
        reason: "every dependency is code that we answer for",
        check: |r| dependency_budgets::check(&r.tree, &r.metadata, &r.tables.deps.budgets),
    },
    Rule {
        name: "dependency-page",
        reason: "whoever asks why a package is there must find the answer, and what it would replace",
        check: |r| dependency_page::check(&r.tree),
    },
    Rule {
        name: "manifests",
        reason: "one place for versions and lints, so that crates cannot drift apart",
        check: |r| manifests::check(&r.tree),
    },
    Rule {
        name: "licences",
        reason: "we may only ship what its licence lets us ship",
        check: |r| licences::check(&r.tree, &r.metadata, &r.tables.deny),
    },
    Rule {
        name: "duplicates",
        reason: "two versions of a package are built, shipped and audited twice",
        check: |r| duplicates::check(&r.tree, &r.metadata, &r.tables.tidy.duplicates),
    },
    Rule {
        name: "operation-matrix",
        reason: "who knows an operation's name must know its files, in every layer",
        check: |r| operation_matrix::check(&r.tree, &r.tables.tidy.operations),
    },
    Rule {
        name: "error-pages",
        reason: "a client that gets a code must find a page that says what to do",
        check: |r| error_pages::check(&r.tree),
    },
    Rule {
        name: "large-files",
        reason: "what git once holds, every clone carries for ever",
        check: |r| large_files::check(&r.tree, &r.tables.tidy.large_files),
    },
    Rule {
        name: "map",
        reason: "a map that is long or wrong is not used, and then not mended",
        check: |r| map::check(&r.tree),
    },
    Rule {
        name: "markdown-links",
        reason: "a link that leads nowhere is worse than none",
        check: |r| markdown_links::check(&r.tree),
    },
];

/// Checks every rule, prints what is broken, and is true when nothing is.
pub(crate) fn run(root: &Path) -> bool {
    let repository = match load(root) {
        Ok(repository) => repository,
        Err(finding) => {
            println!("tidy cannot start\n  {finding}");
            return false;
        }
    };
    let mut broken = 0_usize;
    for rule in RULES {
        let mut findings = (rule.check)(&repository);
        findings.sort();
        if findings.is_empty() {
            continue;
        }
        broken += 1;
        println!("rule {}: {}", rule.name, rule.reason);
        for finding in findings {
            println!("  {finding}");
        }
    }
    let (rules, files) = (RULES.len(), repository.tree.paths().count());
    println!("    tidy: {rules} rules over {files} files, {broken} broken");
    broken == 0
}

pub(super) fn load(root: &Path) -> Result<Repository, Finding> {
    let tree = Tree::load(root)
        .map_err(|error| Finding::new(".", 1, format!("the tree cannot be read: {error}")))?;
    let tables = Tables::load(&tree)?;
    let metadata = Metadata::load(root).map_err(|said| Finding::new("Cargo.toml", 1, said))?;
    let code = ProductCode::of(&tree);
    let pure = tables.deps.pure.keys().map(String::as_str);
    let built_from = BuiltFrom::load(root, pure.filter(|name| metadata.is_member(name)))
        .map_err(|said| Finding::new("Cargo.toml", 1, said))?;
    Ok(Repository { tree, code, tables, metadata, built_from })
}

/// What one rule finds.
#[cfg(test)]
pub(super) fn findings(name: &str, repository: &Repository) -> Vec<Finding> {
    let rule = RULES.iter().find(|rule| rule.name == name).expect("a rule has this name");
    (rule.check)(repository)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_repository_of_ours_fails() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!run(folder.path()));
    }

    #[test]
    fn every_rule_has_its_own_name_and_file() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tidy");
        for rule in RULES {
            let file = format!("{}.rs", rule.name.replace('-', "_"));
            assert!(here.join(&file).is_file(), "{file} is missing");
        }
    }
}
