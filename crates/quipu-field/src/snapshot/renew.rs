//! Makes the next snapshot of a Field from the last one. The state is made from the headers of the log behind that, verified
//! on the way: an independent second reading. The index is taken over from what readers see, because it is what costs
//! most to find and nothing rests on it but the order of answers. Readers and the writer wait for no more than a copy of a
//! small part of it.

use std::collections::BTreeSet;

use quipu_log::{Damage, DamageKind, Engine, EngineError, FieldName, Head};
use quipu_recall::Newest;

use crate::{
    base::limits::READ_PAGE,
    read::view::{Published, View, purged_by},
    snapshot::{
        format::SnapshotDir,
        restore::{begin, unreadable},
    },
};
use quipu_core::{Event, apply::apply};

/// What readers see now, built behind the last snapshot; nothing where that has it all, or where `go_on` says no.
pub(crate) fn renew(
    engine: &dyn Engine,
    field: &FieldName,
    snapshots: &SnapshotDir,
    view: &View,
    go_on: &dyn Fn() -> bool,
) -> Result<Option<Published>, EngineError> {
    let mut renewed = begin(engine, field, Some(snapshots))?;
    let (head, last_purge, mut newest) = {
        let seen = view.read();
        if seen.unindexed.is_some() || seen.head.position <= renewed.head.position {
            return Ok(None);
        }
        let newest = Newest::of(&seen.index, renewed.state.units.next_ordinal());
        (seen.head, seen.state.last_purge, newest)
    };
    while newest.take_some(&view.read().index) {
        if !go_on() {
            return Ok(None);
        }
    }
    // What was taken before and behind a purge does not go together, and nobody may keep the first.
    if view.read().state.last_purge != last_purge {
        return Ok(None);
    }
    let mut purged = BTreeSet::new();
    while renewed.head.position < head.position {
        if !go_on() {
            return Ok(None);
        }
        purged.extend(read_on(engine, field, &mut renewed, head)?);
    }
    if renewed.head != head {
        return Err(Damage::new(head.position, DamageKind::HashMismatch).into());
    }
    if !renewed.index.append(&newest) {
        return Err(Damage::storage("a snapshot's index is ahead of its state").into());
    }
    // The last snapshot had some of them; the newest were taken from an index that had forgotten them.
    renewed.index.forget(&purged);
    Ok(Some(renewed))
}

/// Applies the next headers, up to a head. Answers which units were purged by them.
fn read_on(
    engine: &dyn Engine,
    field: &FieldName,
    renewed: &mut Published,
    until: Head,
) -> Result<BTreeSet<u32>, EngineError> {
    let missing = usize::try_from(until.position - renewed.head.position).unwrap_or(READ_PAGE);
    let page = engine.read_headers(field, renewed.head.position + 1, missing.min(READ_PAGE))?;
    if page.is_empty() {
        let (ends_at, acknowledged) = (renewed.head.position, until.position);
        let kind = DamageKind::Truncated { ends_at, acknowledged };
        return Err(Damage::new(ends_at + 1, kind).into());
    }
    let mut purged = BTreeSet::new();
    for stored in page {
        let (head, header) = stored.check::<Event>().follow(&renewed.head)?;
        apply(&mut renewed.state, &header).map_err(unreadable)?;
        purged.extend(purged_by(&renewed.state, &header));
        renewed.head = head;
    }
    Ok(purged)
}
