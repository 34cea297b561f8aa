//! The handle's reads that are ours: one unit by its id, and the log itself.

use quipu_core::outline::UnitOutline;
use std::sync::Arc;

use quipu_log::{Commit, FieldName};
use quipu_wire::{
    akashik::{LogEntry, LogHead, LogPage, MemoryUnit},
    json::{canon, page_room::PageRoom},
};

use crate::{
    base::{
        error::{FieldError, RequestError},
        limits::LOG_PAGE_COMMITS_MAX,
        unavailable::Unavailable,
    },
    field::Field,
};
use quipu_core::{Reader, UnitId};

impl Field {
    /// One unit, whatever its status, if the reader may see it.
    pub async fn unit(
        self: &Arc<Self>,
        reader: Reader,
        id: &str,
    ) -> Result<MemoryUnit, FieldError> {
        let id = id.to_owned();
        self.blocking(move |field| {
            let missing = || RequestError::UnitNotFound { id: id.clone() };
            let outline = {
                let state = &field.view.read().state;
                let sight = reader.sight(state);
                let found = UnitId::parse(&id).and_then(|id| state.units.find(id));
                let found = found.filter(|&unit| sight.sees(unit));
                found.and_then(|ordinal| UnitOutline::of(state, ordinal)).ok_or_else(missing)?
            };
            outline.complete(&field.bodies).map_err(FieldError::from)
        })
        .await
    }

    /// Commits from a position on, without their texts.
    pub async fn log(self: &Arc<Self>, from: u64, limit: usize) -> Result<LogPage, FieldError> {
        self.blocking(move |field| {
            let head = field.head();
            let limit = limit.min(LOG_PAGE_COMMITS_MAX);
            // A commit that is in the log may not be published yet, and then nobody is told of it.
            let commits = field.read_log(from.max(1), limit)?;
            let shown = commits.iter().filter(|commit| commit.position <= head.position);
            let (mut commits, mut room) = (Vec::new(), PageRoom::default());
            for commit in shown {
                let entry = entry(commit)?;
                if !room.takes(&entry) {
                    break;
                }
                commits.push(entry);
            }
            let last = commits.last().map_or(head.position, |commit| commit.position);
            let next_from = (last < head.position).then_some(last + 1);
            let head =
                LogHead { position: head.position, epoch: head.epoch, hash: head.hash.to_string() };
            Ok(LogPage { commits, head, next_from })
        })
        .await
    }

    fn read_log(&self, from: u64, limit: usize) -> Result<Vec<Commit>, FieldError> {
        let (engine, name): (_, &FieldName) = self.bodies.source();
        if from > self.head().position {
            return Ok(Vec::new());
        }
        engine.read(name, from, limit).map_err(FieldError::from)
    }
}

fn entry(commit: &Commit) -> Result<LogEntry, FieldError> {
    let header = canon::parse(&commit.header).map_err(|error| Unavailable::CommitUnreadable {
        position: commit.position,
        reason: error.to_string(),
    })?;
    Ok(LogEntry { position: commit.position, hash: commit.hash.to_string(), header })
}
