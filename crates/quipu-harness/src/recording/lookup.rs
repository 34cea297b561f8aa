//! What a run recorded under a key.

use quipu_replay::task::RecordedEvent;
use quipu_wire::harn::HarnError;

use super::{
    document::Executor,
    worked::{Break, Worked},
};
use crate::Harness;

/// What the keys of checkpoints start with.
const CHECKPOINT: &str = "checkpoint:";

impl Harness {
    /// The event that recorded an answer. Reads storage.
    pub(crate) fn recorded_under(
        &self,
        task: &str,
        key: &str,
    ) -> Result<Option<RecordedEvent>, HarnError> {
        let in_process =
            self.replay_document(task)?.is_some_and(|it| it.executor == Executor::InProcess);
        let place = self.field.with_state(|state| {
            let stream = state.streams.task(task)?;
            let checkpoint = || stream.checkpoints.get(key.strip_prefix(CHECKPOINT)?);
            stream.dependencies.get(key).or_else(checkpoint).copied()
        });
        if !in_process {
            let Some((position, _)) = place else { return Ok(None) };
            for recorded in Worked::at(self, task, position)? {
                match recorded {
                    Ok(recorded) if is_under(&recorded.event, key) => {
                        return self.with_answer(recorded.event, key).map(Some);
                    }
                    Err(Break::Storage(error)) => return Err(error),
                    Ok(_) | Err(Break::Missing(_)) => {}
                }
            }
            return Ok(None);
        }
        for recorded in self.recording(task)?.until_missing() {
            let event = recorded?.event;
            if is_under(&event, key) {
                return self.with_answer(event, key).map(Some);
            }
        }
        Ok(None)
    }

    /// The event with what it has under a key.
    fn with_answer(&self, event: RecordedEvent, key: &str) -> Result<RecordedEvent, HarnError> {
        let answer = event.dependency.as_ref().is_some_and(|it| it.key == key);
        if answer { Ok(event) } else { self.with_checkpoint_state(event) }
    }
}

/// Whether an event recorded an answer under a key, or made the checkpoint that it names.
fn is_under(event: &RecordedEvent, key: &str) -> bool {
    let checkpoint = event.checkpoint_id.as_deref();
    event.dependency.as_ref().is_some_and(|it| it.key == key)
        || key.strip_prefix(CHECKPOINT).is_some_and(|id| checkpoint == Some(id))
}
