//! The packages as `cargo metadata` describes them. It reads; it does not judge.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// All packages of the lock file, ours included.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    workspace_members: Vec<String>,
    workspace_root: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    manifest_path: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// None for a normal one; else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

impl Metadata {
    /// Asks cargo. `--locked`, so that a check never changes the lock file; `--all-features`, so that
    /// an optional dependency is judged like any other.
    pub(crate) fn load(root: &Path) -> Result<Self, String> {
        let output = Command::new("cargo")
            .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cargo metadata could not be started: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("cargo metadata failed: {}", said.trim()));
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata gave an answer of another shape: {error}"))
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    pub(crate) fn is_member(&self, name: &str) -> bool {
        self.members().any(|package| package.name == name)
    }

    /// The manifest of one of our packages, relative to the root.
    pub(crate) fn manifest<'p>(&self, package: &'p Package) -> &'p str {
        let path = package.manifest_path.as_str();
        path.strip_prefix(&self.workspace_root).map_or(path, |path| path.trim_start_matches('/'))
    }
}

/// One of our crates in a test: its name and its dependencies with their kinds.
#[cfg(test)]
type Member<'a> = (&'a str, &'a [(&'a str, Option<&'a str>)]);

/// A foreign package in a test: name, version, licence.
#[cfg(test)]
type Foreign<'a> = (&'a str, &'a str, Option<&'a str>);

/// A workspace at `/r` for tests.
#[cfg(test)]
pub(crate) fn workspace(members: &[Member<'_>], foreign: &[Foreign<'_>]) -> Metadata {
    let mut metadata = Metadata { workspace_root: "/r".to_owned(), ..Metadata::default() };
    for (name, dependencies) in members {
        let id = format!("path+{name}");
        let dependency = |(name, kind): &(&str, Option<&str>)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
        };
        metadata.workspace_members.push(id.clone());
        metadata.packages.push(Package {
            id,
            name: (*name).to_owned(),
            version: "0.1.0".to_owned(),
            license: Some("Apache-2.0".to_owned()),
            manifest_path: format!("/r/crates/{name}/Cargo.toml"),
            dependencies: dependencies.iter().map(dependency).collect(),
        });
    }
    for (name, version, license) in foreign {
        metadata.packages.push(Package {
            id: format!("registry+{name}@{version}"),
            name: (*name).to_owned(),
            version: (*version).to_owned(),
            license: license.map(str::to_owned),
            manifest_path: format!("/cache/{name}/Cargo.toml"),
            dependencies: Vec::new(),
        });
    }
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_told_from_what_they_depend_on() {
        let text = r#"{"packages": [
            {"id": "a", "name": "ours", "version": "0.1.0", "license": "Apache-2.0",
             "manifest_path": "/r/crates/ours/Cargo.toml",
             "dependencies": [{"name": "theirs", "kind": null}, {"name": "t", "kind": "dev"}]},
            {"id": "b", "name": "theirs", "version": "1.0.0", "license": null,
             "manifest_path": "/cache/theirs/Cargo.toml", "dependencies": []}],
            "workspace_members": ["a"], "workspace_root": "/r", "version": 1}"#;
        let metadata: Metadata = serde_json::from_str(text).unwrap();
        let members: Vec<_> = metadata.members().collect();
        assert_eq!(members.len(), 1);
        assert_eq!(metadata.manifest(members[0]), "crates/ours/Cargo.toml");
        assert!(metadata.is_member("ours"));
        assert!(!metadata.is_member("theirs"));
    }

    #[test]
    fn a_folder_without_a_workspace_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = Metadata::load(folder.path()).unwrap_err();
        assert!(error.starts_with("cargo metadata failed"), "{error}");
    }
}
