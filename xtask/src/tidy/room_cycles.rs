//! Rule: the rooms of a crate, the top-level folders and files of its `src`, do not need each other in a cycle.
//! The table has the cycles that are not yet resolved; a room that is in none any more is a finding too.

use std::collections::BTreeSet;

use super::cycles::{self, Graph};
use super::finding::Finding;
use super::product_code::ProductCode;
use super::rooms::{Edge, Edges, Rooms};
use super::tables::{RoomCycle, TIDY_TABLE};
use super::tree::Tree;

pub(crate) fn check(tree: &Tree, code: &ProductCode, exceptions: &[RoomCycle]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Each room that is in a cycle, with its crate.
    let mut in_cycles = BTreeSet::new();
    for crate_name in code.crates() {
        let folder = format!("crates/{crate_name}/src");
        let rooms = Rooms::of(code, crate_name);
        let graph = graph(&rooms.edges);
        for component in cycles::components(&graph) {
            if !is_excepted(crate_name, &component, exceptions) {
                let cycle = cycles::shortest(&graph, &component);
                let message = message(&folder, &component, &cycle, &rooms.edges);
                findings.push(Finding::new(&folder, 1, message));
            }
            let with_crate = |room: &&str| (crate_name.to_owned(), (*room).to_owned());
            in_cycles.extend(component.iter().map(with_crate));
        }
        for glob in rooms.globs {
            let message =
                format!("`{}` hides which rooms are needed; name what it is for", glob.path);
            findings.push(Finding::new(&format!("{folder}/{}", glob.file), glob.line, message));
        }
    }
    findings.extend(exceptions.iter().flat_map(|exception| unneeded(tree, exception, &in_cycles)));
    findings
}

fn graph(edges: &Edges) -> Graph<'_> {
    let mut graph = Graph::new();
    for (from, targets) in edges {
        graph.insert(from, targets.keys().map(String::as_str).collect());
    }
    graph
}

/// Whether one exception has all rooms of the component.
fn is_excepted(crate_name: &str, component: &BTreeSet<&str>, exceptions: &[RoomCycle]) -> bool {
    let mut of_crate = exceptions.iter().filter(|exception| exception.name == crate_name);
    of_crate.any(|exception| {
        component.iter().all(|room| exception.rooms.iter().any(|listed| listed == room))
    })
}

fn message(folder: &str, component: &BTreeSet<&str>, cycle: &[&str], edges: &Edges) -> String {
    let rooms = component.iter().copied().collect::<Vec<_>>().join(", ");
    let first = cycle.first().copied().unwrap_or_default();
    let mut message = format!(
        "{} rooms need each other: {rooms}; the shortest cycle is {} -> {first}",
        component.len(),
        cycle.join(" -> ")
    );
    for (from, to) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        if let Some(Edge { first, times }) = edges.get(*from).and_then(|edges| edges.get(*to)) {
            let place = format!("{folder}/{}:{}", first.file, first.line);
            let name = &first.path;
            message += &format!("\n    {from} needs {to}: {place} names {name} (1 of {times})");
        }
    }
    message
}

fn unneeded(
    tree: &Tree,
    exception: &RoomCycle,
    in_cycles: &BTreeSet<(String, String)>,
) -> Vec<Finding> {
    let RoomCycle { name, rooms, reason } = exception;
    let quoted = format!("crate = \"{name}\"");
    let line = tree.line_where(TIDY_TABLE, |line| line == quoted);
    let is_resolved = |room: &&String| !in_cycles.contains(&(name.clone(), (*room).clone()));
    let finding = |room: &String| {
        let message =
            format!("{room} of {name} is in no cycle and needs no exception (\"{reason}\")");
        Finding::new(TIDY_TABLE, line, message)
    };
    rooms.iter().filter(is_resolved).map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;

    const A: (&str, &str) = ("crates/x/src/a/inner.rs", "//! A.\nuse crate::b::X;\n");
    const B: (&str, &str) = ("crates/x/src/b.rs", "//! B.\n\nfn f() { super::C }\n");
    const C: (&str, &str) = ("crates/x/src/c.rs", "//! C.\nuse crate::{a::Y, b::X};\n");
    const D: (&str, &str) = ("crates/x/src/d.rs", "//! D.\nuse crate::{a, b, c};\n");
    const LIB: (&str, &str) = ("crates/x/src/lib.rs", "//! X.\npub use c::C;\n");

    fn found(files: &[(&str, &str)], exceptions: &[RoomCycle]) -> Vec<String> {
        let tree = Tree::of(files);
        texts(&check(&tree, &ProductCode::of(&tree), exceptions))
    }

    fn exception(rooms: &[&str]) -> RoomCycle {
        let rooms = rooms.iter().map(|room| (*room).to_owned()).collect();
        RoomCycle { name: "x".to_owned(), rooms, reason: "why".to_owned() }
    }

    #[test]
    fn refuses_a_cycle_and_says_where_it_can_be_cut() {
        let expected = "crates/x/src:1: 3 rooms need each other: a, b, c; the shortest cycle is b -> c -> b\n    \
                        b needs c: crates/x/src/b.rs:3 names crate::C (1 of 1)\n    \
                        c needs b: crates/x/src/c.rs:2 names crate::b::X (1 of 1)";
        assert_eq!(found(&[A, B, C, D, LIB], &[]), [expected]);
    }

    #[test]
    fn accepts_rooms_in_order_and_crates_apart() {
        assert_eq!(found(&[A, B, D], &[]), [""; 0]);
        let other = ("crates/y/src/b.rs", "//! B.\nuse crate::a::Y;\n");
        assert_eq!(found(&[A, other, ("crates/y/src/a.rs", "//! A.\n")], &[]), [""; 0]);
    }

    #[test]
    fn an_exception_has_all_rooms_of_its_cycle_and_no_others() {
        let files = [A, B, C, D, LIB];
        assert_eq!(found(&files, &[exception(&["a", "b", "c"])]), [""; 0]);
        assert_eq!(found(&files, &[exception(&["b", "c"])]).len(), 1);
        assert_eq!(
            found(&files, &[exception(&["a", "b", "c", "d"])]),
            ["xtask/tidy.toml:1: d of x is in no cycle and needs no exception (\"why\")"]
        );
    }

    #[test]
    fn refuses_an_import_of_everything() {
        let file = ("crates/x/src/a.rs", "//! A.\nuse super::*;\n");
        assert_eq!(
            found(&[file], &[]),
            ["crates/x/src/a.rs:2: `crate::*` hides which rooms are needed; name what it is for"]
        );
    }
}
