//! Rebuilds what readers see from the log: from the newest snapshot that is of this log, or from
//! nothing, and then commit by commit, verifying the chain on the way. Opening, making the next
//! snapshot and `quipu verify` all go through here, so they cannot disagree.

use std::sync::Arc;

use quipu_log::{
    Commit, Damage, DamageKind, Engine, EngineError, FieldName, Head, Header, verify_chain,
};

use crate::{
    bodies::decode,
    event::{Event, UnitBody},
    snapshot::{self, SnapshotDir},
    view::Published,
    words::UnitWords,
};

/// What was rebuilt, and how.
#[derive(Debug)]
pub struct Restored {
    /// The state and the index at the log's head.
    pub published: Published,
    /// The position of the snapshot that it started from, 0 if from none.
    pub snapshot_position: u64,
}

/// Told of each position as it is reached, and whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Rebuilds a Field from its log, starting from a snapshot where there is a good one.
pub fn restore(
    engine: &dyn Engine,
    field: &FieldName,
    snapshots: Option<&SnapshotDir>,
    progress: Progress<'_>,
) -> Result<Restored, EngineError> {
    let start = match snapshots {
        Some(snapshots) => newest_of_this_log(engine, field, snapshots)?,
        None => None,
    };
    let mut published = start.unwrap_or_else(Published::empty);
    let snapshot_position = published.head.position;
    catch_up(engine, field, &mut published, progress)?;
    Ok(Restored { published, snapshot_position })
}

/// Applies every commit after `published`, verifying each.
pub fn catch_up(
    engine: &dyn Engine,
    field: &FieldName,
    published: &mut Published,
    progress: Progress<'_>,
) -> Result<Head, EngineError> {
    if engine.head(field)? == Head::EMPTY && published.head == Head::EMPTY {
        return Ok(Head::EMPTY);
    }
    verify_chain(engine, field, published.head, &mut |commit| {
        let header = commit.decode_header::<Event>()?;
        let words = words_of(commit, &header)?;
        published.advance(commit, &header, &words).map_err(|wrong| {
            Damage::new(wrong.position, DamageKind::HeaderUnreadable(wrong.what))
        })?;
        if progress(commit.position) { Ok(()) } else { Err(stopped(commit.position)) }
    })
}

fn stopped(position: u64) -> Damage {
    Damage::new(position, DamageKind::StorageUnreadable("stopped on request".to_owned()))
}

/// The words of the units that a commit recorded. An erased text has none.
fn words_of(commit: &Commit, header: &Header<Event>) -> Result<Vec<Arc<UnitWords>>, Damage> {
    let mut words = Vec::new();
    for (index, sealed) in (0u32..).zip(&header.events) {
        if !matches!(sealed.event, Event::UnitRecorded { .. }) {
            continue;
        }
        let body: Option<UnitBody> = commit
            .body(index)
            .map(|body| decode(commit.position, &body.json))
            .transpose()
            .map_err(|error| {
                Damage::new(commit.position, DamageKind::BodiesUnreadable(error.to_string()))
            })?;
        let text = body.map(|body| body.searchable()).unwrap_or_default();
        words.push(Arc::new(UnitWords::new(text)));
    }
    Ok(words)
}

fn newest_of_this_log(
    engine: &dyn Engine,
    field: &FieldName,
    snapshots: &SnapshotDir,
) -> Result<Option<Published>, EngineError> {
    for path in snapshots.list() {
        match snapshot::load(&path) {
            Ok(published) if is_of_log(engine, field, &published.head)? => {
                return Ok(Some(published));
            }
            Ok(_) => {
                tracing::warn!(path = %path.display(), "passing over a snapshot of another log")
            }
            Err(error) => tracing::warn!(%error, "passing over a snapshot"),
        }
    }
    Ok(None)
}

/// Whether a log holds this very head.
pub fn is_of_log(engine: &dyn Engine, field: &FieldName, head: &Head) -> Result<bool, EngineError> {
    if engine.head(field)? == Head::EMPTY {
        return Ok(*head == Head::EMPTY);
    }
    let found = engine.read(field, head.position, 1)?;
    Ok(found.first().is_some_and(|commit| commit.head() == *head))
}
