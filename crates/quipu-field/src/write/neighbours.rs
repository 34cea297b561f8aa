//! The one place where the writer cares whether other nodes append to the same log. Which implementation it has is chosen
//! when the Field is opened: [`Alone`], or [`AmongNodes`](super::among_nodes::AmongNodes).

use std::fmt;

use quipu_log::{Commit, EngineError, Head};

use crate::{
    base::{error::FieldError, limits::BATCH_COMMANDS_MAX, meter::Stopwatch},
    write::{batch::Batch, log_end::LogEnd},
};

pub(crate) enum Setback {
    /// Another node was faster. The end of the log is known again, and the commands must be decided again.
    Overtaken,
    /// It cannot be durable, for now or for good.
    Failed(FieldError),
}

/// What the writer does because of other nodes.
pub(crate) trait Neighbours: fmt::Debug + Send {
    /// Takes note of commits that were published without the writer.
    fn keep_up(&mut self, end: &mut LogEnd);

    /// Called before the first command of a batch is decided.
    fn begin_batch(&mut self, end: &mut LogEnd);

    fn batch_limit(&self, end: &LogEnd) -> usize;

    /// Whether the state may turn out to be outdated when a batch is appended.
    fn may_be_overtaken(&self) -> bool;

    /// Makes commits durable that follow the end of the log, and everything before them visible.
    fn append(&mut self, end: &mut LogEnd, commits: &[Commit]) -> Result<Head, Setback>;

    /// Makes certain that the answers of a batch without commits hold, and everything before them visible.
    fn confirm(&mut self, end: &mut LogEnd, batch: &Batch) -> Result<(), Setback>;

    /// Called after appended commits have become visible.
    fn published(&mut self, end: &mut LogEnd);
}

/// Nobody else appends to the log.
#[derive(Debug)]
pub(crate) struct Alone;

impl Neighbours for Alone {
    fn keep_up(&mut self, _: &mut LogEnd) {}

    fn begin_batch(&mut self, _: &mut LogEnd) {}

    /// After a failure decisions rest on what readers see, which does not have the batch so far. So then it has one command.
    fn batch_limit(&self, end: &LogEnd) -> usize {
        if end.state.is_some() { BATCH_COMMANDS_MAX } else { 1 }
    }

    fn may_be_overtaken(&self) -> bool {
        false
    }

    fn append(&mut self, end: &mut LogEnd, commits: &[Commit]) -> Result<Head, Setback> {
        let watch = Stopwatch::start();
        let appended = end.engine.append(&end.field, &end.head, commits);
        appended.inspect(|_| end.meter.appended(commits.len(), watch.elapsed())).map_err(|error| {
            // A full disk and a server that is away leave the log as certain as it was. After anything else the outcome
            // is unknown until the Field is opened again.
            let is_survivable =
                matches!(error, EngineError::Full | EngineError::Unavailable { .. });
            Setback::Failed(end.give_up(error, is_survivable))
        })
    }

    fn confirm(&mut self, _: &mut LogEnd, _: &Batch) -> Result<(), Setback> {
        Ok(())
    }

    /// The log takes commits again, so a copy of the state is worth its cost again.
    fn published(&mut self, end: &mut LogEnd) {
        if end.state.is_none() {
            end.state = Some(end.view.read().state.clone());
        }
    }
}
