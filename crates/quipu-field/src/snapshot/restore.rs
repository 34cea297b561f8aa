//! Rebuilds what readers see from the log: from the newest snapshot that is of this log, or from
//! nothing, and then commit by commit, verifying the chain on the way. Opening, views of the past and `quipu verify`
//! go through here, so they cannot disagree. The next snapshot is made in `renew.rs`.

use quipu_core::apply::Inconsistent;
use quipu_log::{
    Commit, Damage, DamageKind, Engine, EngineError, FieldName, Head, Pace, StoredHeader,
    verify_headers, verify_prepared,
};
use serde::de::IgnoredAny;

use crate::{
    read::{
        decoded::{Decoded, prepare},
        view::Published,
    },
    snapshot::format::{self, SnapshotDir},
};

#[derive(Debug)]
pub struct Restored {
    /// The state and the index at the log's head.
    pub published: Published,
    /// The position of the snapshot that it started from, 0 if from none.
    pub snapshot_position: u64,
}

/// Called with each position as it is reached. Answers whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Rebuilds a Field from its log, starting from a snapshot where there is a good one. `pace` says whether others are served
/// meanwhile.
pub fn restore(
    engine: &dyn Engine,
    field: &FieldName,
    snapshots: Option<&SnapshotDir>,
    pace: Pace,
    progress: Progress<'_>,
) -> Result<Restored, EngineError> {
    let mut published = begin(engine, field, snapshots)?;
    let snapshot_position = published.head.position;
    catch_up(engine, field, &mut published, pace, progress)?;
    Ok(Restored { published, snapshot_position })
}

/// Rebuilds a Field as it was at a position that its log has: from an older view, from a snapshot where
/// there is a later one, or from nothing.
pub(crate) fn restore_at(
    engine: &dyn Engine,
    field: &FieldName,
    snapshots: Option<&SnapshotDir>,
    older: Option<Published>,
    position: u64,
    progress: Progress<'_>,
) -> Result<Published, EngineError> {
    let saved = match snapshots {
        Some(snapshots) => newest_of_this_log(engine, field, snapshots, position)?,
        None => None,
    };
    let newest = [older, saved].into_iter().flatten().max_by_key(|view| view.head.position);
    let mut published = newest.unwrap_or_else(Published::empty);
    let newest_head = published.head;
    if newest_head.position >= position {
        return Ok(published);
    }
    let reached = || Damage::storage("reached the position that was asked for");
    let mut visit = |commit: &Commit, read: Decoded| {
        advance(&mut published, commit, &read, progress)?;
        if commit.position < position { Ok(()) } else { Err(reached()) }
    };
    let (from, pace) = (newest_head, Pace::Beside);
    let advanced = verify_prepared(engine, field, from, pace, &prepare, &mut visit);
    match advanced {
        Err(EngineError::Damaged(damage)) if damage == reached() => Ok(published),
        other => other.map(|_| published),
    }
}

/// Applies every commit after `published`, verifying each.
pub fn catch_up(
    engine: &dyn Engine,
    field: &FieldName,
    published: &mut Published,
    pace: Pace,
    progress: Progress<'_>,
) -> Result<Head, EngineError> {
    if engine.head(field)? == Head::EMPTY && published.head == Head::EMPTY {
        return Ok(Head::EMPTY);
    }
    verify_prepared(engine, field, published.head, pace, &prepare, &mut |commit, read| {
        advance(published, commit, &read, progress)
    })
}

/// As [`restore`], but where more commits than this are missing, their texts are not read and the index is left behind.
pub(crate) fn restore_soon(
    engine: &dyn Engine,
    field: &FieldName,
    snapshots: Option<&SnapshotDir>,
    later: u64,
) -> Result<Restored, EngineError> {
    let mut published = begin(engine, field, snapshots)?;
    let snapshot_position = published.head.position;
    let missing = engine.head(field)?.position.saturating_sub(snapshot_position);
    if missing > later {
        catch_up_state(engine, field, &mut published, Pace::Alone)?;
    } else {
        catch_up(engine, field, &mut published, Pace::Alone, &mut |_| true)?;
    }
    Ok(Restored { published, snapshot_position })
}

/// The newest snapshot of this log, or nothing.
pub(crate) fn begin(
    engine: &dyn Engine,
    field: &FieldName,
    snapshots: Option<&SnapshotDir>,
) -> Result<Published, EngineError> {
    let start = match snapshots {
        Some(snapshots) => newest_of_this_log(engine, field, snapshots, u64::MAX)?,
        None => None,
    };
    Ok(start.unwrap_or_else(Published::empty))
}

/// Applies every header after `published` to its state, verifying each, and leaves its index behind.
pub fn catch_up_state(
    engine: &dyn Engine,
    field: &FieldName,
    published: &mut Published,
    pace: Pace,
) -> Result<Head, EngineError> {
    verify_headers(engine, field, published.head, pace, &mut |head, header| {
        published.advance_state(head, &header).map_err(unreadable)
    })
}

fn advance(
    published: &mut Published,
    commit: &Commit,
    read: &Decoded,
    progress: Progress<'_>,
) -> Result<(), Damage> {
    published.advance(commit, &read.header, &read.words).map_err(unreadable)?;
    if progress(commit.position) { Ok(()) } else { Err(stopped(commit.position)) }
}

/// What is wrong with a log whose next commit cannot be applied.
pub(crate) fn unreadable(wrong: Inconsistent) -> Damage {
    Damage::new(wrong.position, DamageKind::HeaderUnreadable(wrong.what))
}

fn stopped(position: u64) -> Damage {
    Damage::new(position, DamageKind::StorageUnreadable("stopped on request".to_owned()))
}

/// The newest snapshot up to a position that is of this log.
fn newest_of_this_log(
    engine: &dyn Engine,
    field: &FieldName,
    snapshots: &SnapshotDir,
    up_to: u64,
) -> Result<Option<Published>, EngineError> {
    for path in snapshots.list() {
        let of = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        if of.is_none_or(|of| of > up_to) {
            continue;
        }
        match format::load(&path) {
            Ok(saved) if saved.head.position <= up_to && is_of_log(engine, field, &saved.head)? => {
                return Ok(Some(saved));
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

/// The time of a log's last commit.
pub(crate) fn time_of(
    engine: &dyn Engine,
    field: &FieldName,
    head: &Head,
) -> Result<u64, EngineError> {
    if *head == Head::EMPTY {
        return Ok(0);
    }
    let last = engine.read_headers(field, head.position, 1)?;
    let last = last.first().map(StoredHeader::decode::<IgnoredAny>);
    Ok(last.transpose()?.map_or(0, |header| header.time_ms))
}
