//! The rooms of a crate: the top-level folders and files of its `src`, but for the files that declare them. It finds
//! which room names which, and where; whether they may is for the rule.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::paths::{self, NamedPath};
use super::product_code::ProductCode;
use super::source;

/// The files that declare rooms and are in none.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// A line of code that names something of the crate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Naming {
    /// Relative to `src`.
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) path: String,
}

/// That one room names another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) first: Naming,
    pub(crate) times: usize,
}

/// For each room the rooms that it names.
pub(crate) type Edges = BTreeMap<String, BTreeMap<String, Edge>>;

/// What the rooms of a crate name, but for their tests.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    pub(crate) edges: Edges,
    /// Globs of the whole crate, or of a whole room at the root: nobody sees which room a name comes from.
    pub(crate) globs: Vec<Naming>,
}

impl Rooms {
    pub(crate) fn of(code: &ProductCode, crate_name: &str) -> Self {
        let names = code.of_crate(crate_name).filter_map(|(file, _)| room_of(file)).collect();
        let mut rooms = Self::default();
        let mut targets = Targets { rooms: names, at_root: BTreeMap::new() };
        for (file, code) in code.of_crate(crate_name).filter(|(file, _)| room_of(file).is_none()) {
            rooms.globs.extend(targets.take_root(file, code));
        }
        for (file, code) in code.of_crate(crate_name) {
            if let Some(room) = room_of(file) {
                rooms.take_file(&targets, room, file, code);
            }
        }
        rooms
    }

    fn take_file(&mut self, targets: &Targets<'_>, room: &str, file: &str, code: &str) {
        let inline = inline_modules(code);
        for path in paths::beginning_with(code, &["crate", "self", "super"]) {
            let Some(absolute) = absolute(file, &inline, &path) else { continue };
            let Some(first) = absolute.first() else { continue };
            let naming = || naming(file, code, path.at, &absolute);
            if *first == "*" {
                self.globs.push(naming());
            } else if let Some(target) = targets.room(first).filter(|target| *target != room) {
                let edges = self.edges.entry(room.to_owned()).or_default();
                let edge = || Edge { first: naming(), times: 0 };
                edges.entry(target.to_owned()).or_insert_with(edge).times += 1;
            }
        }
    }
}

/// What `crate::name` may lead to.
struct Targets<'c> {
    rooms: BTreeSet<&'c str>,
    /// The names that the root imports, with the rooms that they come from.
    at_root: BTreeMap<&'c str, &'c str>,
}

impl<'c> Targets<'c> {
    fn room(&self, name: &str) -> Option<&'c str> {
        self.rooms.get(name).or_else(|| self.at_root.get(name)).copied()
    }

    /// Takes the imports of a root file over, and returns the globs among them.
    fn take_root(&mut self, file: &str, code: &'c str) -> Vec<Naming> {
        let mut globs = Vec::new();
        for path in paths::imported(code) {
            let from_root = match path.segments.as_slice() {
                ["crate" | "self", rest @ ..] => rest,
                all => all,
            };
            let Some(room) = from_root.first().and_then(|first| self.rooms.get(first)) else {
                continue;
            };
            match path.brings() {
                Some(name) => drop(self.at_root.insert(name, room)),
                None => globs.push(naming(file, code, path.at, from_root)),
            }
        }
        globs
    }
}

/// The room of a file; none for one that declares the rooms.
fn room_of(file: &str) -> Option<&str> {
    let first = file.split('/').next().filter(|_| !ROOTS.contains(&file))?;
    Some(first.trim_end_matches(".rs"))
}

/// The path from the root of the crate on. None where it leads out of the crate, which does not compile.
fn absolute<'p>(
    file: &'p str,
    inline: &[(Range<usize>, &'p str)],
    path: &NamedPath<'p>,
) -> Option<Vec<&'p str>> {
    let mut module: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    module.pop_if(|last| *last == "mod");
    module
        .extend(inline.iter().filter(|(range, _)| range.contains(&path.at)).map(|(_, name)| name));
    for segment in &path.segments {
        match *segment {
            "crate" => module.clear(),
            "super" => drop(module.pop()?),
            "self" => {}
            name => module.push(name),
        }
    }
    Some(module)
}

/// The modules with a body, from the outermost on: what their braces hold, and their names.
fn inline_modules(code: &str) -> Vec<(Range<usize>, &str)> {
    let mut modules = Vec::new();
    for at in source::word_positions(code, "mod") {
        let rest = &code[at + "mod".len()..];
        let Some(length) = rest.find(['{', ';']).filter(|at| rest[*at..].starts_with('{')) else {
            continue;
        };
        let open = at + "mod".len() + length;
        let close = source::closing(code, open).unwrap_or(code.len());
        modules.push((open..close, rest[..length].trim()));
    }
    modules
}

fn naming(file: &str, code: &str, at: usize, absolute: &[&str]) -> Naming {
    let path = format!("crate::{}", absolute.join("::"));
    Naming { file: file.to_owned(), line: source::line_of(code, at), path }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    /// The rooms of a crate with these files, below its `src`.
    fn rooms(files: &[(&str, &str)]) -> Rooms {
        let paths: Vec<_> = files.iter().map(|(file, _)| format!("crates/x/src/{file}")).collect();
        let files: Vec<_> =
            paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), *text)).collect();
        Rooms::of(&ProductCode::of(&Tree::of(&files)), "x")
    }

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let sentence = |from: &str, to: &str, edge: &Edge| {
            let Edge { first, times } = edge;
            format!("{from} {to} {times} {}:{} {}", first.file, first.line, first.path)
        };
        let edges = rooms(files).edges;
        edges
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |(to, edge)| sentence(from, to, edge)))
            .collect()
    }

    #[test]
    fn folders_and_files_are_rooms_that_name_each_other() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("a/mod.rs", "mod inner;\nuse inner::X;\n"),
            ("a/inner.rs", "use crate::{a::Y,\n    b::{Z, W}};\n"),
            ("b.rs", "fn f() { crate::c::g::<u8>() }\n"),
            ("c.rs", "fn g() { std::mem::drop(1) }\n"),
        ];
        assert_eq!(edges(&files), ["a b 2 a/inner.rs:2 crate::b::Z", "b c 1 b.rs:1 crate::c::g"]);
    }

    #[test]
    fn super_is_resolved_by_the_place_of_the_file_and_of_the_code() {
        let files = [
            ("lib.rs", ""),
            ("a/mod.rs", "use super::b::X;\n"),
            ("a/c/d.rs", "use super::super::b::X;\nfn f() { self::super::super::super::e::g() }\n"),
            ("b.rs", "mod inner {\n    use super::e::X;\n    use super::super::a::X;\n}\n"),
            ("e.rs", "fn g() {}\n"),
        ];
        assert_eq!(
            edges(&files),
            [
                "a b 1 a/mod.rs:1 crate::b::X",
                "a e 1 a/c/d.rs:2 crate::e::g",
                "b a 1 b.rs:3 crate::a::X"
            ]
        );
    }

    #[test]
    fn names_at_the_root_lead_to_the_rooms_that_they_come_from() {
        let root =
            "mod b;\npub use b::{X, inner::Y as Z};\nuse crate::c::W;\npub const V: u8 = 1;\n";
        let files = [
            ("lib.rs", root),
            ("a.rs", "use crate::{V, Z};\nfn f() { super::W }\n"),
            ("b.rs", ""),
            ("c.rs", "use crate::X;\n"),
        ];
        assert_eq!(
            edges(&files),
            ["a b 1 a.rs:1 crate::Z", "a c 1 a.rs:2 crate::W", "c b 1 c.rs:1 crate::X"]
        );
    }

    #[test]
    fn tests_comments_and_strings_name_nothing() {
        let text = "//! crate::b::X\nconst A: &str = \"crate::b::X\";\n#[cfg(test)]\nmod tests {\n    \
                    use crate::b::X;\n}\n";
        let files = [("a.rs", text), ("a/tests.rs", "use crate::b::X;\n"), ("b.rs", "")];
        assert_eq!(edges(&files), [""; 0]);
    }

    #[test]
    fn globs_that_hide_rooms_are_kept() {
        let files = [
            ("lib.rs", "mod a;\npub use a::*;\n"),
            ("a.rs", "use super::*;\nmod inner { use super::*; }\n"),
            ("b/mod.rs", "use crate::*;\nuse crate::a::*;\nuse self::c::*;\n"),
        ];
        let globs: Vec<_> =
            rooms(&files).globs.iter().map(|by| format!("{}:{}", by.file, by.path)).collect();
        assert_eq!(globs, ["lib.rs:crate::a::*", "a.rs:crate::*", "b/mod.rs:crate::*"]);
    }
}
