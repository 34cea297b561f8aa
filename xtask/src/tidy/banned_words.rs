//! Rule: no file names a package registry's host, a path of somebody's machine, or a folder beside the repository.
//! The words are put together from halves, so that this file does not break its own rule.

use super::finding::Finding;
use super::tree::Tree;

/// Written by cargo, which names the registry in it.
const GENERATED: &str = "Cargo.lock";

const REGISTRY_HOSTS: [&str; 4] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npm", "js."),
];

const ABSOLUTE_FOLDERS: [&str; 2] = [concat!("/wo", "rk"), concat!("/ho", "me")];

const OUTSIDE: &str = concat!("../sha", "red");

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| *path != GENERATED) {
        for (index, line) in text.lines().enumerate() {
            let messages = complaints(line);
            findings.extend(messages.into_iter().map(|text| Finding::new(path, index + 1, text)));
        }
    }
    findings
}

fn complaints(line: &str) -> Vec<String> {
    let mut messages = Vec::new();
    for host in REGISTRY_HOSTS.iter().filter(|host| line.to_ascii_lowercase().contains(**host)) {
        messages.push(format!("`{host}` is a package registry's host; name the package instead"));
    }
    for folder in ABSOLUTE_FOLDERS.iter().filter(|folder| names_absolute(line, folder)) {
        messages.push(format!("`{folder}` is a path of one machine; use one relative to the root"));
    }
    if line.contains(OUTSIDE) {
        messages.push(format!("`{OUTSIDE}` is not part of the repository"));
    }
    messages
}

/// Whether the folder stands at the start of a path, and not within a longer path or name.
fn names_absolute(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let is_start = !before.is_some_and(|c| continues(c) || matches!(c, '.' | '~' | '/' | '}'));
        is_start && !after.is_some_and(continues)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> bool {
        !check(&Tree::of(&[("a.md", line)])).is_empty()
    }

    #[test]
    fn refuses_registry_hosts() {
        for host in REGISTRY_HOSTS {
            assert!(refused(&format!("see https://{host}/x")), "{host}");
            assert!(refused(&host.to_uppercase()), "{host}");
        }
        assert!(!refused("crates and their io"));
    }

    #[test]
    fn refuses_paths_of_one_machine() {
        for folder in ABSOLUTE_FOLDERS {
            assert!(refused(&format!("{folder}/main/a.rs")), "{folder}");
            assert!(refused(&format!("in `{folder}`")), "{folder}");
            assert!(!refused(&format!("docs{folder}/a.md")), "{folder}");
            assert!(!refused(&format!("GET {folder}flow")), "{folder}");
            assert!(!refused(&format!("https://example.org{folder}/a")), "{folder}");
        }
    }

    #[test]
    fn refuses_the_folder_beside_the_repository() {
        assert!(refused(&format!("read {OUTSIDE}/x")));
    }

    #[test]
    fn the_lock_file_may_name_its_registry() {
        assert_eq!(check(&Tree::of(&[(GENERATED, REGISTRY_HOSTS[0])])), []);
    }

    #[test]
    fn says_where() {
        let tree = Tree::of(&[("a.md", &format!("one\ntwo {OUTSIDE}\n"))]);
        let expected = format!("a.md:2: `{OUTSIDE}` is not part of the repository");
        assert_eq!(check(&tree)[0].to_string(), expected);
    }
}
