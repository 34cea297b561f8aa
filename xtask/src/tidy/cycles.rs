//! Cycles in a graph of names: which names lead to each other, and the shortest way round.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// For each name the names that it leads to.
pub(crate) type Graph<'g> = BTreeMap<&'g str, BTreeSet<&'g str>>;

/// Every set of two or more names that all lead to each other, in order.
pub(crate) fn components<'g>(graph: &Graph<'g>) -> BTreeSet<BTreeSet<&'g str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|name| (*name, ways_from(graph, name).into_keys().collect())).collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|names| names.contains(to));
    let component = |name: &&'g str| -> BTreeSet<&'g str> {
        graph.keys().filter(|other| leads(name, other) && leads(other, name)).copied().collect()
    };
    graph.keys().map(component).filter(|names| names.len() > 1).collect()
}

/// The shortest way from one of these names back to it, by the others. The first name is not said again at the end.
pub(crate) fn shortest<'g>(graph: &Graph<'g>, names: &BTreeSet<&'g str>) -> Vec<&'g str> {
    names.iter().filter_map(|name| back_to(graph, name)).min_by_key(Vec::len).unwrap_or_default()
}

/// The shortest way from this name back to it.
fn back_to<'g>(graph: &Graph<'g>, name: &'g str) -> Option<Vec<&'g str>> {
    let before = ways_from(graph, name);
    let mut way = vec![name];
    let mut at = *before.get(name)?;
    while at != name {
        way.push(at);
        at = *before.get(at)?;
    }
    way[1..].reverse();
    Some(way)
}

/// Every name that can be reached from this one by at least one step, with the name before it on a shortest way.
fn ways_from<'g>(graph: &Graph<'g>, start: &'g str) -> BTreeMap<&'g str, &'g str> {
    let mut before = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(name) = waiting.pop_front() {
        for next in graph.get(name).into_iter().flatten() {
            if !before.contains_key(next) {
                before.insert(*next, name);
                waiting.push_back(next);
            }
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph<'g>(edges: &[(&'g str, &[&'g str])]) -> Graph<'g> {
        edges.iter().map(|(from, to)| (*from, to.iter().copied().collect())).collect()
    }

    fn found<'g>(graph: &Graph<'g>) -> Vec<(Vec<&'g str>, Vec<&'g str>)> {
        let with_way =
            |names: &BTreeSet<&'g str>| (names.iter().copied().collect(), shortest(graph, names));
        components(graph).iter().map(with_way).collect()
    }

    #[test]
    fn a_graph_that_only_leads_down_has_none() {
        let graph = graph(&[("a", &["b", "c"]), ("b", &["c"]), ("d", &["a"])]);
        assert_eq!(found(&graph), []);
    }

    #[test]
    fn names_that_lead_to_each_other_are_one_component() {
        let graph = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["d"]), ("d", &["b", "e"])]);
        assert_eq!(found(&graph), [(vec!["b", "c", "d"], vec!["b", "c", "d"])]);
    }

    #[test]
    fn the_shortest_way_round_is_the_one_to_mend_first() {
        let edges: [(&str, &[&str]); 4] =
            [("a", &["b"]), ("b", &["c"]), ("c", &["a", "d"]), ("d", &["c"])];
        assert_eq!(found(&graph(&edges)), [(vec!["a", "b", "c", "d"], vec!["c", "d"])]);
    }

    #[test]
    fn separate_cycles_are_separate_components() {
        let edges: [(&str, &[&str]); 4] =
            [("a", &["b"]), ("b", &["a", "c"]), ("c", &["d"]), ("d", &["c"])];
        assert_eq!(
            found(&graph(&edges)),
            [(vec!["a", "b"], vec!["a", "b"]), (vec!["c", "d"], vec!["c", "d"])]
        );
    }
}
