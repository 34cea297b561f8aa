//! Erasing bodies in place.
//!
//! The erased body is overwritten by its mark and spaces, so that the row keeps its size and SQLite writes over the
//! old bytes where they are. A row that shrank could make SQLite move its neighbours to other pages, and its
//! rebuilding of a page does not clear what the page no longer uses, `secure_delete` or not.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::writer::Abort;
use crate::{
    commit::{BodyContent, Damage, DamageKind, StoredBody, bodies},
    engine::{BodyAddress, Erasure},
};

const FIND: &str = "SELECT bodies FROM commits WHERE position = ?1";
const REPLACE: &str = "UPDATE commits SET bodies = ?2 WHERE position = ?1";

pub(super) fn erase(connection: &Connection, addresses: &[BodyAddress]) -> Result<Erasure, Abort> {
    let mut by_position: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for address in addresses {
        by_position.entry(address.position).or_default().insert(address.event);
    }
    let mut find = connection.prepare_cached(FIND)?;
    let mut replace = connection.prepare_cached(REPLACE)?;
    let mut done = Erasure::default();
    for (position, events) in by_position {
        // No commit has a position that does not fit.
        let Ok(row) = i64::try_from(position) else { continue };
        let stored: Option<Option<String>> = find.query_row([row], |row| row.get(0)).optional()?;
        let Some(text) = stored.flatten() else { continue };
        let mut bodies = bodies::decode(text.as_bytes()).map_err(|e| refuse(position, &e))?;
        let erased = blank(&mut bodies, &events);
        if erased.bodies_erased > 0 {
            let fresh = bodies::encode(&bodies).map_err(|e| refuse(position, &e))?;
            replace.execute(params![row, filled(fresh.unwrap_or_default(), text.len())])?;
            done.bodies_erased += erased.bodies_erased;
            done.bytes_reclaimed += erased.bytes_reclaimed;
        }
    }
    Ok(done)
}

// Not by a width of `format!`: that is at most 65,535 and counts characters where the row's size counts bytes.
fn filled(mut fresh: String, bytes: usize) -> String {
    fresh.extend(std::iter::repeat_n(' ', bytes.saturating_sub(fresh.len())));
    fresh
}

fn blank(bodies: &mut [StoredBody], events: &BTreeSet<u32>) -> Erasure {
    let mut erased = Erasure::default();
    for stored in bodies.iter_mut().filter(|stored| events.contains(&stored.event)) {
        if let BodyContent::Present(body) =
            std::mem::replace(&mut stored.content, BodyContent::Erased)
        {
            erased.bodies_erased += 1;
            erased.bytes_reclaimed += u64::try_from(body.json.len()).unwrap_or(u64::MAX);
        }
    }
    erased
}

fn refuse(position: u64, reason: &impl ToString) -> Abort {
    Abort::Refused(Damage::new(position, DamageKind::BodiesUnreadable(reason.to_string())).into())
}
