//! The steps of a replay in process: its plan carried out over its source's recording, event by event.

use std::sync::Arc;

use quipu_replay::task::{ReplayOutcome, ReplayedEvent, Replayer, Unavailable};
use quipu_wire::harn::HarnError;

use super::{
    document::{DEPTH_MAX, ReplayDocument},
    materials::Kept,
    read::Recording,
    worked::{Break, Recorded},
};
use crate::{Harness, handle::failure::internal_error};

/// What a replay did with one event of its source.
pub(crate) struct Step {
    pub(crate) source: Recorded,
    pub(crate) replayed: ReplayedEvent,
}

/// A replay in process under way. It ends with its source's recording, or at the first thing that is missing; after
/// that, `finish` says what it came to.
pub(crate) struct Steps {
    harness: Harness,
    source: Recording,
    replayer: Replayer,
    missing: Option<Unavailable>,
}

impl Harness {
    /// Carries out a plan over its source's recording. Reads storage.
    pub(crate) fn replay_steps(&self, document: &ReplayDocument) -> Result<Steps, HarnError> {
        Steps::of(self, document, DEPTH_MAX + 1)
    }
}

impl Steps {
    pub(super) fn of(
        harness: &Harness,
        document: &ReplayDocument,
        depth: u32,
    ) -> Result<Self, HarnError> {
        let too_many = || internal_error("too many replays of replays");
        let depth = depth.checked_sub(1).ok_or_else(too_many)?;
        Ok(Self {
            harness: harness.clone(),
            source: Recording::of(harness, &document.plan.identity.source_task_id, depth)?,
            replayer: Replayer::new(Arc::new(document.plan.clone())),
            missing: None,
        })
    }

    pub(crate) fn finish(self) -> ReplayOutcome {
        self.replayer.finish(self.missing)
    }

    /// What the replay came to where it was called off before its end.
    pub(crate) fn cancel(self) -> ReplayOutcome {
        self.replayer.cancel()
    }

    pub(super) fn missing_at_end(&self) -> Option<Unavailable> {
        self.missing.clone().or_else(|| self.replayer.missing_at_end())
    }
}

impl Iterator for Steps {
    type Item = Result<Step, HarnError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.missing.is_none() {
            let source = match self.source.next()? {
                Ok(source) => source,
                Err(Break::Storage(error)) => return Some(Err(error)),
                Err(Break::Missing(missing)) => {
                    self.missing = Some(missing);
                    return None;
                }
            };
            let kept = Kept { harness: &self.harness, caller: None };
            match self.replayer.step(&source.event, &kept) {
                Ok(Some(replayed)) => return Some(Ok(Step { source, replayed })),
                Ok(None) => {}
                Err(missing) => self.missing = Some(missing),
            }
        }
        None
    }
}
