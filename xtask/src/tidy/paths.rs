//! The paths that code names, with the groups of a `use` taken apart: `a::{b, c::*}` names `a::b` and `a::c::*`.
//! What a path means where it stands is for others.

use super::source;

/// One path of the code. The last segment of a glob is `*`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedPath<'c> {
    /// Where it begins; within a group, where its own part begins.
    pub(crate) at: usize,
    pub(crate) segments: Vec<&'c str>,
    pub(crate) alias: Option<&'c str>,
}

impl<'c> NamedPath<'c> {
    /// The name that a `use` of this path brings; none for a glob.
    pub(crate) fn brings(&self) -> Option<&'c str> {
        let mut segments = self.segments.iter().rev();
        let last = segments.find(|segment| **segment != "self").copied();
        self.alias.or(last).filter(|name| *name != "*")
    }
}

/// Every path of masked code that begins with one of these words.
pub(crate) fn beginning_with<'c>(code: &'c str, words: &[&str]) -> Vec<NamedPath<'c>> {
    let mut starts: Vec<usize> =
        words.iter().flat_map(|word| source::word_positions(code, word)).collect();
    starts.sort_unstable();
    let mut paths = Vec::new();
    let mut done = 0;
    for start in starts {
        // A later segment of the path before is no beginning.
        if start >= done {
            let mut reader = Reader { code, at: start, found: Vec::new() };
            reader.path(&[]);
            done = reader.at;
            paths.extend(reader.found.into_iter().filter(|path| path.segments.len() > 1));
        }
    }
    paths
}

/// Every path of the `use` items of masked code.
pub(crate) fn imported(code: &str) -> Vec<NamedPath<'_>> {
    let mut paths = Vec::new();
    for at in source::word_positions(code, "use") {
        let mut reader = Reader { code, at: at + "use".len(), found: Vec::new() };
        reader.skip("::");
        reader.path(&[]);
        paths.extend(reader.found);
    }
    paths
}

struct Reader<'c> {
    code: &'c str,
    at: usize,
    found: Vec<NamedPath<'c>>,
}

impl<'c> Reader<'c> {
    /// Reads one path, which goes on from the prefix, to its end.
    fn path(&mut self, prefix: &[&'c str]) {
        let mut segments = prefix.to_vec();
        self.skip_blanks();
        let start = self.at;
        loop {
            if self.skip("{") {
                return self.group(&segments);
            }
            if self.skip("*") {
                segments.push("*");
                break;
            }
            let Some(name) = self.name() else { break };
            segments.push(name);
            if !self.skip("::") {
                break;
            }
        }
        if segments.len() > prefix.len() {
            let alias = self.alias();
            self.found.push(NamedPath { at: start, segments, alias });
        }
    }

    /// Reads the paths of a group, whose opening brace was read, to behind its closing one.
    fn group(&mut self, prefix: &[&'c str]) {
        loop {
            self.path(prefix);
            if self.skip("}") {
                return;
            }
            // Anything else is no group of paths, such as the body of a macro.
            if !self.skip(",") {
                return;
            }
        }
    }

    fn alias(&mut self) -> Option<&'c str> {
        let before = self.at;
        if self.name() == Some("as") {
            return self.name();
        }
        self.at = before;
        None
    }

    fn name(&mut self) -> Option<&'c str> {
        self.skip_blanks();
        if self.code[self.at..].starts_with("r#") {
            self.at += "r#".len();
        }
        let rest = &self.code[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    fn skip(&mut self, text: &str) -> bool {
        let before = self.at;
        self.skip_blanks();
        let is_there = self.code[self.at..].starts_with(text);
        self.at = if is_there { self.at + text.len() } else { before };
        is_there
    }

    fn skip_blanks(&mut self) {
        let rest = &self.code[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(paths: &[NamedPath<'_>]) -> Vec<String> {
        paths.iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn groups_are_taken_apart() {
        let code = "use crate::{a::{self, B as C}, d::*,\n    e::{f, g::{H, I},},\n};\n";
        let paths = beginning_with(code, &["crate"]);
        let expected = [
            "crate::a::self",
            "crate::a::B",
            "crate::d::*",
            "crate::e::f",
            "crate::e::g::H",
            "crate::e::g::I",
        ];
        assert_eq!(joined(&paths), expected);
        assert_eq!(&code[paths[1].at..=paths[1].at], "B");
        let brought: Vec<_> = paths.iter().map(NamedPath::brings).collect();
        assert_eq!(brought, [Some("a"), Some("C"), None, Some("f"), Some("H"), Some("I")]);
    }

    #[test]
    fn paths_in_code_end_where_their_names_end() {
        let code = "let x = crate::a::B { c: super::d::<u8>(self.e) }; pub(crate) fn f() -> super\n::r#g {}";
        let found = joined(&beginning_with(code, &["crate", "super"]));
        assert_eq!(found, ["crate::a::B", "super::d", "super::g"]);
    }

    #[test]
    fn a_path_is_found_once_however_often_it_has_the_word() {
        assert_eq!(joined(&beginning_with("super::super::a", &["super"])), ["super::super::a"]);
        assert_eq!(
            joined(&beginning_with("use super::{super::a, b};", &["super"])),
            ["super::super::a", "super::b"]
        );
    }

    #[test]
    fn imports_need_no_particular_beginning() {
        let code = "pub use a::{B, c::D};\nuse ::e::F;\nfn f() -> impl G + use<'a> {}";
        assert_eq!(joined(&imported(code)), ["a::B", "a::c::D", "e::F"]);
    }

    #[test]
    fn what_only_begins_like_a_group_ends_the_search() {
        assert_eq!(joined(&beginning_with("crate::{$($x),*}", &["crate"])), [""; 0]);
        assert_eq!(joined(&beginning_with("crate::{a, ", &["crate"])), ["crate::a"]);
    }
}
