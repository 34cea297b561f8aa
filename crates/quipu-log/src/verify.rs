//! Reads a field's log from an engine and verifies the whole chain.
//! Works on any engine; the files beneath are checked by the engine's own functions.

use std::sync::mpsc;
use std::thread;

use crate::commit::{Commit, Head};
use crate::damage::{Damage, DamageKind};
use crate::engine::{Engine, EngineError};
use crate::field_name::FieldName;

/// How many commits are read at a time.
const PAGE: usize = 1024;
/// How many pages may wait for whoever verifies them.
const PAGES_AHEAD: usize = 2;

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
    thread::scope(|scope| {
        let (sender, pages) = mpsc::sync_channel(PAGES_AHEAD);
        // The storage works on the next page while this one is verified and whatever the caller does with it.
        scope.spawn(move || read_ahead(engine, field, after.position, &sender));
        for page in pages {
            for commit in &page? {
                head = commit.verify(&head)?;
                visit(commit)?;
            }
        }
        Ok::<_, EngineError>(())
    })?;
    if head.position < stated.position {
        return Err(ends_early(head.position, stated.position).into());
    }
    if head.position == stated.position && head != stated {
        return Err(Damage::new(head.position, DamageKind::HashMismatch).into());
    }
    Ok(head)
}

/// Reads page after page until the log ends, something fails, or nobody takes them any more.
fn read_ahead(
    engine: &dyn Engine,
    field: &FieldName,
    after: u64,
    pages: &mpsc::SyncSender<Result<Vec<Commit>, EngineError>>,
) {
    let mut next = after.saturating_add(1);
    loop {
        let page = engine.read(field, next, PAGE);
        let last = page.as_ref().ok().and_then(|page| page.last()).map(|commit| commit.position);
        if page.as_ref().is_ok_and(Vec::is_empty) || pages.send(page).is_err() {
            return;
        }
        // A page that goes back is damage, and whoever verifies it says so.
        let Some(last) = last.filter(|last| *last >= next) else { return };
        next = last.saturating_add(1);
    }
}

fn ends_early(ends_at: u64, acknowledged: u64) -> Damage {
    Damage::new(ends_at.saturating_add(1), DamageKind::Truncated { ends_at, acknowledged })
}
