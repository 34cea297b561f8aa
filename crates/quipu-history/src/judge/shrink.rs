//! Reduces a contradiction to the operations that are needed to see it.

use crate::judge::search::{Call, Operation, Reply, is_explained};

/// Removes the operations after the first contradiction, and then each operation that cannot have changed anything
/// and is not needed for it. Nothing else may go: without it a correct history could look wrong.
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

/// The operations as they were known at a moment: without answers that arrived later.
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
