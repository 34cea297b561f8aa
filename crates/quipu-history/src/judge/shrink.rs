//! The fewest operations on one thing that still have no explanation.

use crate::judge::search::{Call, Operation, Reply, is_explained};

/// Leaves out what is not needed. Only what cannot have changed anything is left out for good, and what came later
/// than the first contradiction: without the rest, a sound history could look wrong.
pub(crate) fn shrink(operations: &[Operation]) -> Vec<Operation> {
    let mut ends: Vec<u64> = operations.iter().filter_map(|one| one.returned_us).collect();
    ends.sort_unstable();
    let cut = ends.into_iter().map(|end| until(operations, end));
    let mut left =
        cut.into_iter().find(|part| !is_explained(part)).unwrap_or_else(|| operations.to_vec());
    let mut at = 0;
    while let Some(operation) = left.get(at) {
        let changed_nothing = operation.call == Call::Read
            || matches!(operation.reply, Some(Reply::Absent | Reply::Taken));
        if changed_nothing {
            let removed = left.remove(at);
            if !is_explained(&left) {
                continue;
            }
            left.insert(at, removed);
        }
        at += 1;
    }
    left
}

/// What could be known at a moment.
fn until(operations: &[Operation], moment: u64) -> Vec<Operation> {
    let invoked = operations.iter().filter(|one| one.invoked_us <= moment);
    let cut = invoked.filter_map(|one| {
        let mut one = one.clone();
        if one.returned_us.is_none_or(|returned| returned > moment) {
            one.returned_us = None;
            one.reply = None;
            one.position = None;
        }
        (one.reply.is_some() || one.call != Call::Read).then_some(one)
    });
    cut.collect()
}
