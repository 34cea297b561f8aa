//! The code of our crates that is not for tests: comments, the insides of literals and everything that is compiled for
//! tests only are blanks. Rules about the product look here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::source;
use super::tree::Tree;

/// The code of every file below `crates/*/src` that is not a file of tests, as long as the file itself.
#[derive(Debug, Default)]
pub(crate) struct ProductCode {
    files: BTreeMap<String, String>,
}

impl ProductCode {
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut files = BTreeMap::new();
        let mut for_tests = BTreeSet::new();
        for (path, text) in tree.with_ending(".rs") {
            if !parts(path).is_some_and(|(_, inside)| is_product(inside)) {
                continue;
            }
            let mut code = source::masked(text);
            for range in source::test_ranges(&code) {
                for_tests.extend(declared_file(path, text, &code, &range));
                blank(&mut code, range);
            }
            files.insert(path.to_owned(), code);
        }
        files.retain(|path, _| !for_tests.iter().any(|module| is_of(path, module)));
        Self { files }
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, code)| (path.as_str(), code.as_str()))
    }

    /// The files of one crate and their code; paths are relative to its `src`.
    pub(crate) fn of_crate(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        let is_its_own = move |(path, code)| {
            let (of, inside) = parts(path)?;
            (of == name).then_some((inside, code))
        };
        self.files().filter_map(is_its_own)
    }

    /// The crates that have code, in order.
    pub(crate) fn crates(&self) -> BTreeSet<&str> {
        self.files().filter_map(|(path, _)| parts(path)).map(|(name, _)| name).collect()
    }
}

/// The crate of a path below `crates/*/src`, and the rest of the path.
pub(crate) fn parts(path: &str) -> Option<(&str, &str)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    Some((name, rest.strip_prefix("src/")?))
}

fn is_product(inside: &str) -> bool {
    !inside.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// The module that a `mod name;` for tests declares, as a path without `.rs`.
fn declared_file(path: &str, text: &str, code: &str, range: &Range<usize>) -> Option<String> {
    let item = &code[range.clone()];
    let at = *source::word_positions(item, "mod").first()?;
    let name = item[at + "mod".len()..].trim().strip_suffix(';')?.trim();
    let (folder, file) = path.rsplit_once('/')?;
    let has_path = source::attributes(item).iter().any(|a| a.content.starts_with("path="));
    if has_path {
        let (_, given) = *source::string_literals(&text[range.clone()]).first()?;
        return Some(format!("{folder}/{}", given.trim_end_matches(".rs")));
    }
    if matches!(file, "lib.rs" | "main.rs" | "mod.rs") {
        return Some(format!("{folder}/{name}"));
    }
    Some(format!("{}/{name}", path.trim_end_matches(".rs")))
}

/// Whether the file is that module, or a part of it.
fn is_of(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

fn blank(code: &mut String, range: Range<usize>) {
    let blanks: String =
        code[range.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    code.replace_range(range, &blanks);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let code = ProductCode::of(&Tree::of(files));
        code.files().map(|(path, code)| (path.to_owned(), code.trim().to_owned())).collect()
    }

    #[test]
    fn comments_literals_and_tests_become_blanks() {
        let text = "//! Doc.\nfn a() { b(\"c\") }\n#[cfg(test)]\nmod tests {\n fn d() {}\n}\n";
        let files = [("crates/x/src/a.rs", text)];
        assert_eq!(kept(&files), [("crates/x/src/a.rs".into(), "fn a() { b(\" \") }".into())]);
        assert_eq!(ProductCode::of(&Tree::of(&files)).files["crates/x/src/a.rs"].len(), text.len());
    }

    #[test]
    fn files_of_tests_are_left_out_however_they_are_declared() {
        let files = [
            ("crates/x/src/lib.rs", "mod a;\n#[cfg(test)]\nmod planted;\n"),
            ("crates/x/src/planted.rs", "fn f() {}"),
            ("crates/x/src/planted/more.rs", "fn f() {}"),
            ("crates/x/src/a.rs", "#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\n"),
            ("crates/x/src/a_tests.rs", "fn f() {}"),
            ("crates/x/src/b/mod.rs", "#[cfg(any(test, feature = \"y\"))]\nmod c;\n"),
            ("crates/x/src/b/c.rs", "fn f() {}"),
            ("crates/x/src/b/tests.rs", "fn f() {}"),
            ("crates/x/src/b/tests/d.rs", "fn f() {}"),
            ("crates/x/tests/e.rs", "fn f() {}"),
            ("xtask/src/main.rs", "fn f() {}"),
        ];
        let paths: Vec<_> = kept(&files).into_iter().map(|(path, _)| path).collect();
        assert_eq!(
            paths,
            [
                "crates/x/src/a.rs",
                "crates/x/src/b/c.rs",
                "crates/x/src/b/mod.rs",
                "crates/x/src/lib.rs"
            ]
        );
    }

    #[test]
    fn a_crate_has_its_own_files_only() {
        let tree = Tree::of(&[("crates/x/src/a/b.rs", "c"), ("crates/xy/src/d.rs", "e")]);
        let code = ProductCode::of(&tree);
        assert_eq!(code.crates().into_iter().collect::<Vec<_>>(), ["x", "xy"]);
        assert_eq!(code.of_crate("x").collect::<Vec<_>>(), [("a/b.rs", "c")]);
    }
}
