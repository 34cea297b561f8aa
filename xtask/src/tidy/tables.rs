//! The tables that the rules consult: `xtask/tidy.toml`, `xtask/deps.toml`, and the lists in `deny.toml`.
//! It reads them and refuses what it does not know; what they mean is each rule's business.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::finding::Finding;
use super::tree::Tree;

pub(crate) const TIDY_TABLE: &str = "xtask/tidy.toml";
pub(crate) const DEPS_TABLE: &str = "xtask/deps.toml";
pub(crate) const DENY_TABLE: &str = "deny.toml";

/// Everything that is configured rather than coded.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) tidy: TidyTable,
    pub(crate) deps: DepsTable,
    pub(crate) deny: DenyTable,
}

impl Tables {
    pub(crate) fn load(tree: &Tree) -> Result<Self, Finding> {
        Ok(Self {
            tidy: parsed(tree, TIDY_TABLE)?,
            deps: parsed(tree, DEPS_TABLE)?,
            deny: parsed(tree, DENY_TABLE)?,
        })
    }
}

/// `xtask/tidy.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TidyTable {
    #[serde(default)]
    pub(crate) long_files: Vec<LongFile>,
    #[serde(default)]
    pub(crate) large_files: Vec<LargeFile>,
    #[serde(default)]
    pub(crate) duplicates: Vec<Duplicate>,
    #[serde(default)]
    pub(crate) room_cycles: Vec<RoomCycle>,
    #[serde(default)]
    pub(crate) test_waits: Vec<TestWait>,
    #[serde(default)]
    pub(crate) plain_words: PlainWords,
    pub(crate) operations: Operations,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LongFile {
    pub(crate) path: String,
    pub(crate) max_lines: usize,
    pub(crate) reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LargeFile {
    pub(crate) path: String,
    pub(crate) reason: String,
}

/// A package that may be in the lock file in several versions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Duplicate {
    pub(crate) package: String,
    pub(crate) reason: String,
}

/// Rooms of a crate that may still need each other in a cycle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoomCycle {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) rooms: Vec<String>,
    pub(crate) reason: String,
}

/// A file of tests that may wait for a while, because there is no event to wait for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestWait {
    pub(crate) path: String,
    pub(crate) reason: String,
}

/// Words that name nothing to a reader who is new here.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlainWords {
    /// For each word what to say instead.
    pub(crate) instead: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) exceptions: Vec<PlainWordException>,
}

/// A word that may be in one file, as a name or as the question of a doc comment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlainWordException {
    pub(crate) path: String,
    pub(crate) word: String,
    pub(crate) reason: String,
}

/// The operations of the protocol and the layers that each of them must have a file in.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Operations {
    pub(crate) names: Vec<String>,
    /// Paths with `{operation}` in the place of the name.
    pub(crate) layers: Vec<String>,
    #[serde(default)]
    pub(crate) gaps: Vec<Gap>,
}

/// A layer that does not have an operation, on purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gap {
    pub(crate) operation: String,
    pub(crate) layer: String,
    pub(crate) reason: String,
}

/// `xtask/deps.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DepsTable {
    /// For each of our crates, those of our crates that it may name.
    pub(crate) edges: BTreeMap<String, Vec<String>>,
    pub(crate) budgets: Budgets,
    /// Our crates that depend on nothing but what they are given.
    #[serde(default)]
    pub(crate) pure: BTreeMap<String, PureCrate>,
}

/// What a crate must keep to in order to be pure.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PureCrate {
    /// The only packages that it may depend on, but for tests.
    pub(crate) dependencies: Vec<String>,
    /// Packages that may not even come with a dependency.
    pub(crate) banned_packages: Vec<String>,
    /// Words and paths that its code may not have, but for tests.
    pub(crate) banned: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budgets {
    pub(crate) lock_packages: usize,
    pub(crate) externals_default: usize,
    #[serde(default)]
    pub(crate) externals: BTreeMap<String, usize>,
}

/// The part of cargo-deny's file that tidy checks as well. The rest of it is cargo-deny's own.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct DenyTable {
    pub(crate) licenses: DenyLicences,
    pub(crate) bans: DenyBans,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct DenyLicences {
    pub(crate) allow: Vec<String>,
    #[serde(default)]
    pub(crate) exceptions: Vec<LicenceException>,
}

/// A package that may be under licences that others may not be under.
#[derive(Debug, Deserialize)]
pub(crate) struct LicenceException {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) allow: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct DenyBans {
    pub(crate) deny: Vec<BannedPackage>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct BannedPackage {
    #[serde(rename = "crate")]
    pub(crate) name: String,
    pub(crate) reason: String,
}

fn parsed<T: DeserializeOwned>(tree: &Tree, path: &str) -> Result<T, Finding> {
    let text = tree
        .text(path)
        .ok_or_else(|| Finding::new(path, 1, "this table is missing or not text"))?;
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| super::source::line_of(text, span.start));
        Finding::new(path, line, error.message())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_table_is_a_finding() {
        let finding = Tables::load(&Tree::of(&[])).unwrap_err();
        assert_eq!(finding.to_string(), "xtask/tidy.toml:1: this table is missing or not text");
    }

    #[test]
    fn an_exception_without_a_reason_is_refused_at_its_line() {
        let text = "[operations]\nnames = []\nlayers = []\n\n[[large_files]]\npath = \"a\"\n";
        let finding = Tables::load(&Tree::of(&[(TIDY_TABLE, text)])).unwrap_err();
        assert_eq!(finding.to_string(), "xtask/tidy.toml:5: missing field `reason`");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let text = "[operations]\nnames = []\nlayers = []\nlayer = []\n";
        let finding = Tables::load(&Tree::of(&[(TIDY_TABLE, text)])).unwrap_err();
        assert!(finding.to_string().contains("unknown field `layer`"), "{finding}");
    }
}
