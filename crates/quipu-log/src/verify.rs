//! Reads a field's log from an engine and verifies the whole chain.
//! Works on any engine; the files beneath are checked by the engine's own functions.

use crate::commit::{Commit, Head};
use crate::damage::{Damage, DamageKind};
use crate::engine::{Engine, EngineError};
use crate::field_name::FieldName;

/// How many commits are read at a time.
const PAGE: usize = 1024;

/// Verifies every commit after `after` and hands each to `visit` in order; answers the head that was reached.
///
/// The log must reach at least the head that the engine stated at the start, so a log that silently ends early is damage.
///
/// # Errors
/// `Damaged` with the first damage found, by the chain or by `visit`; and whatever the engine answers.
pub fn verify_chain(
    engine: &dyn Engine,
    field: &FieldName,
    after: Head,
    visit: &mut dyn FnMut(&Commit) -> Result<(), Damage>,
) -> Result<Head, EngineError> {
    let stated = engine.head(field)?;
    if stated.position < after.position {
        return Err(ends_early(stated.position, after.position).into());
    }
    let mut head = after;
    loop {
        let page = engine.read(field, head.position.saturating_add(1), PAGE)?;
        if page.is_empty() {
            break;
        }
        for commit in &page {
            head = commit.verify(&head)?;
            visit(commit)?;
        }
    }
    if head.position < stated.position {
        return Err(ends_early(head.position, stated.position).into());
    }
    if head.position == stated.position && head != stated {
        return Err(Damage::new(head.position, DamageKind::HashMismatch).into());
    }
    Ok(head)
}

fn ends_early(ends_at: u64, acknowledged: u64) -> Damage {
    Damage::new(ends_at.saturating_add(1), DamageKind::Truncated { ends_at, acknowledged })
}
