//! Reads a field's log from an engine and verifies the whole chain. Works on any engine; the files of an engine are
//! checked by its own functions.

use serde::de::DeserializeOwned;

use super::ahead::{Checked, Pace, Prepare, read_ahead, read_headers_ahead};
use crate::{
    commit::{CheckedHeader, Commit, Damage, DamageKind, Head, Header},
    engine::{Engine, EngineError},
    field_name::FieldName,
};

/// Verifies every commit after `after` and hands each to `visit` in order. Returns the head that was reached.
///
/// One thread reads ahead, so that the other cores can serve requests.
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
    verify_prepared(engine, field, after, Pace::Beside, &|_| Ok(()), &mut |commit, ()| {
        visit(commit)
    })
}

/// As [`verify_chain`], and also hands over what `prepare` computed from each commit. `prepare` runs ahead, in other
/// threads, and does the work that does not need the previous commit.
///
/// # Errors
/// As `verify_chain`; damage found by `prepare` is reported at its commit.
pub fn verify_prepared<T: Send>(
    engine: &dyn Engine,
    field: &FieldName,
    after: Head,
    pace: Pace,
    prepare: Prepare<'_, T>,
    visit: &mut dyn FnMut(&Commit, T) -> Result<(), Damage>,
) -> Result<Head, EngineError> {
    reach_what_is_stated(engine, field, after, &mut |stated, head| {
        let mut take = |page: Vec<Checked<T>>| {
            for checked in page {
                let (commit, prepared) = checked.follow(head)?;
                *head = commit.head();
                visit(&commit, prepared)?;
            }
            Ok(head.position)
        };
        read_ahead(engine, field, (after.position, stated), pace, prepare, &mut take)
    })
}

/// As [`verify_prepared`] for headers only: bodies are not checked.
///
/// # Errors
/// As `verify_chain`, but for damage of the bodies.
pub fn verify_headers<E: DeserializeOwned + Send>(
    engine: &dyn Engine,
    field: &FieldName,
    after: Head,
    pace: Pace,
    visit: &mut dyn FnMut(Head, Header<E>) -> Result<(), Damage>,
) -> Result<Head, EngineError> {
    reach_what_is_stated(engine, field, after, &mut |stated, head| {
        let mut take = |page: Vec<CheckedHeader<E>>| {
            for checked in page {
                let (next, header) = checked.follow(head)?;
                *head = next;
                visit(next, header)?;
            }
            Ok(head.position)
        };
        read_headers_ahead(engine, field, (after.position, stated), pace, &mut take)
    })
}

/// Reads a log from a head at least to the head that the engine states. `read` gets that position and advances the
/// head.
fn reach_what_is_stated(
    engine: &dyn Engine,
    field: &FieldName,
    after: Head,
    read: &mut dyn FnMut(u64, &mut Head) -> Result<(), EngineError>,
) -> Result<Head, EngineError> {
    let stated = engine.head(field)?;
    if stated.position < after.position {
        return Err(ends_early(stated.position, after.position).into());
    }
    let mut head = after;
    read(stated.position, &mut head)?;
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
