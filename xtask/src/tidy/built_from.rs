//! The packages that one of our crates is built from when nothing else is built, as `cargo tree` lists them. The
//! metadata cannot say it: there the features that all our crates ask for are put together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// For each crate that was looked up, the names of its packages and their packages, itself included.
#[derive(Debug, Default)]
pub(crate) struct BuiltFrom {
    crates: BTreeMap<String, BTreeSet<String>>,
}

impl BuiltFrom {
    /// Asks cargo for each of these crates. Tests and build scripts do not count; other platforms do.
    pub(crate) fn load<'n>(
        root: &Path,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Self, String> {
        let mut found = Self::default();
        for name in names {
            found.take(name, &listing(root, name)?);
        }
        Ok(found)
    }

    /// What cargo would list for one crate, for tests.
    #[cfg(test)]
    pub(crate) fn listed(name: &str, listing: &str) -> Self {
        let mut found = Self::default();
        found.take(name, listing);
        found
    }

    /// Each line begins with a package's name.
    fn take(&mut self, name: &str, listing: &str) {
        let packages = listing.lines().filter_map(|line| line.split(' ').next());
        let packages = packages.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        self.crates.insert(name.to_owned(), packages);
    }

    pub(crate) fn packages(&self, name: &str) -> impl Iterator<Item = &str> {
        self.crates.get(name).into_iter().flatten().map(String::as_str)
    }
}

fn listing(root: &Path, name: &str) -> Result<String, String> {
    let output = Command::new("cargo")
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--target", "all"])
        .args(["--package", name])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo tree could not be started: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo tree failed for {name}: {}", said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_listed_once_and_by_name() {
        let listing = "a v0.1.0 (/r/crates/a)\nb v1.0.0\n\nc v2.0.0 (proc-macro)\nb v1.0.0 (*)\n";
        let found = BuiltFrom::listed("a", listing);
        assert_eq!(found.packages("a").collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(found.packages("other").count(), 0);
    }

    #[test]
    fn this_crate_is_built_from_serde_but_not_from_what_only_its_tests_need() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let found = BuiltFrom::load(&root, ["xtask"].into_iter()).unwrap();
        let packages: Vec<_> = found.packages("xtask").collect();
        assert!(packages.contains(&"serde"), "{packages:?}");
        assert!(!packages.contains(&"tempfile"), "{packages:?}");
    }

    #[test]
    fn a_crate_that_cargo_does_not_know_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = BuiltFrom::load(folder.path(), ["gone"].into_iter()).unwrap_err();
        assert!(error.starts_with("cargo tree failed for gone"), "{error}");
    }
}
