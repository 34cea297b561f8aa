//! The comparison with other systems, in `bench`: its own tests, which start none of them.

use crate::support::Python;

/// What the group `test` of its manifest lists; older versions of pip cannot read it themselves.
fn pinned(manifest: &str) -> Vec<String> {
    let list = manifest.lines().find_map(|line| line.strip_prefix("test = [")).unwrap();
    let packages = list.trim_end_matches(']').split(',');
    packages.map(|package| package.trim().trim_matches('"').to_owned()).collect()
}

#[test]
fn the_comparison_is_typed_tidy_and_passes_its_tests() {
    let bench = Python::of("bench", |sources| {
        pinned(&std::fs::read_to_string(sources.join("pyproject.toml")).unwrap())
    });
    bench.check();
}
