//! The steps of a replay in process: its plan carried out over its source's recording, event by event.

use std::{collections::BTreeMap, sync::Arc};

use quipu_replay::task::{
    Material, ReplayOutcome, ReplayedEvent, Replayer, Unavailable, event_key,
};
use quipu_wire::harn::{Delta, DeltaOperation, HarnError};

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
    /// How many events were replayed already when it ended: what was erased of them since does not undo it.
    left: u64,
    /// The digests that its receipt keeps of what it substituted, by key.
    before: BTreeMap<String, Delta>,
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
        let task = &document.plan.identity.replay_task_id;
        let left = harness.finish_of(task)?.map_or(0, |finish| finish.events);
        let receipt = if left > 0 { harness.receipt_of(task)? } else { None };
        let deltas = receipt.and_then(|receipt| receipt.deltas).unwrap_or_default();
        let before = deltas.into_iter().filter_map(|it| Some((it.override_key.clone()?, it)));
        let too_many = || internal_error("too many replays of replays");
        let depth = depth.checked_sub(1).ok_or_else(too_many)?;
        Ok(Self {
            harness: harness.clone(),
            source: Recording::of(
                harness,
                &document.plan.identity.source_task_id,
                depth,
                left > 0,
            )?,
            left,
            before: before.collect(),
            replayer: Replayer::new(Arc::new(document.plan.clone())),
            missing: None,
        })
    }

    /// Replays an event that was replayed already, whatever was erased of it since.
    fn step_again(&mut self, source: &mut Recorded) -> Result<Option<ReplayedEvent>, Unavailable> {
        let event = &mut source.event;
        let delta = |key: &str| self.before.get(key);
        if source.gone.is_some()
            && let Some(before) = delta(&event_key(&event.event_id)).and_then(|it| it.before_sha256)
        {
            event.payload_sha256 = before;
        }
        let references = std::mem::take(&mut event.references);
        let mut material = None;
        if let Some(answer) = &mut event.dependency {
            let delta = delta(&answer.key);
            let was_gone = delta.is_some_and(|delta| delta.operation == DeltaOperation::Add);
            let is_gone = answer.material.is_gone();
            if is_gone && let Some(before) = delta.and_then(|delta| delta.before_sha256) {
                (answer.sha256, event.payload_sha256) = (before, before);
            }
            if (is_gone && !was_gone) || matches!(answer.material, Material::Artifact(_)) {
                let kept = std::mem::replace(&mut answer.material, Material::HashOnly);
                material = Some(kept);
            }
        }
        let kept = Kept { harness: &self.harness, caller: None };
        let replayed = self.replayer.step(event, &kept);
        event.references = references;
        if let (Some(answer), Some(material)) = (&mut event.dependency, material) {
            answer.material = material;
        }
        replayed
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
            let mut source = match self.source.next()? {
                Ok(source) => source,
                Err(Break::Storage(error)) => return Some(Err(error)),
                Err(Break::Missing(missing)) => {
                    self.missing = Some(missing);
                    return None;
                }
            };
            let again = self.left > 0;
            if let Some(missing) = source.gone.as_ref().filter(|_| !again) {
                self.missing = Some(missing.clone());
                return None;
            }
            let replayed = if again {
                self.step_again(&mut source)
            } else {
                let kept = Kept { harness: &self.harness, caller: None };
                self.replayer.step(&source.event, &kept)
            };
            match replayed {
                Ok(Some(replayed)) => {
                    self.left = self.left.saturating_sub(1);
                    return Some(Ok(Step { source, replayed }));
                }
                Ok(None) => {}
                Err(missing) => self.missing = Some(missing),
            }
        }
        None
    }
}
