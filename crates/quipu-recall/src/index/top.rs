//! Owns how the best few of many hits are chosen. Knows nothing of where scores come from.

use std::cmp::Ordering;

use crate::index::lexical::Hit;

/// The best of `hits`, best first, the higher ordinal first where scores are equal. `accept` is only
/// asked about those that are good enough.
pub(crate) fn top(mut hits: Vec<Hit>, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<Hit> {
    let mut best: Vec<Hit> = Vec::new();
    let mut asked = 0;
    while best.len() < limit && asked < hits.len() {
        let rest = &mut hits[asked..];
        // Twice as many each time, so that many that are not accepted do not make many rounds.
        let next = limit.max(asked).min(rest.len());
        rest.select_nth_unstable_by(next - 1, better_first);
        rest[..next].sort_unstable_by(better_first);
        best.extend(rest[..next].iter().filter(|hit| accept(hit.ordinal)));
        asked += next;
    }
    best.truncate(limit);
    best
}

fn better_first(a: &Hit, b: &Hit) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| b.ordinal.cmp(&a.ordinal))
}
