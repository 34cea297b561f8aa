//! Recordings, whatever made them: of a task that somebody worked on, from its stream; of a replay in process,
//! from its source's recording and its plan. Each event goes to a sink, so that nothing is kept.

use std::ops::ControlFlow;

use quipu_replay::task::{
    Material, PlannedOverride, RecordedEvent, ReplayOutcome, ReplayedEvent, Replayer, Substitute,
};
use quipu_wire::harn::{
    DependencyKind, Event, HarnError, HarnErrorCode, JsonObject, ResourcePointer, Visibility,
};
use serde_json::Value;

use super::{
    document::{DEPTH_MAX, Executor, ReplayDocument},
    finish::Finish,
    materials::Kept,
    worked::{Break, Recorded, Worked},
};
use crate::Harness;

/// Takes the events of a recording one by one, until it has enough.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Recorded) -> ControlFlow<()>;

/// How a reading of a recording ended.
#[derive(Debug)]
pub(crate) enum Read {
    /// All of it was read.
    Whole,
    /// The sink had enough.
    Stopped,
}

/// What a replay did with one event of its source.
pub(crate) struct Step {
    pub(crate) source: Recorded,
    pub(crate) replayed: ReplayedEvent,
}

impl Harness {
    /// Reads the recording of a task. Reads storage.
    pub(crate) fn each_recorded(&self, task: &str, sink: Sink<'_>) -> Result<Read, Break> {
        self.each_at(task, DEPTH_MAX, sink)
    }

    fn each_at(&self, task: &str, depth: u32, sink: Sink<'_>) -> Result<Read, Break> {
        let document = self.replay_document(task).map_err(Break::Storage)?;
        if let Some(document) = document.filter(|it| it.executor == Executor::InProcess) {
            return self.each_rederived(task, document, depth, sink);
        }
        for recorded in Worked::new(self, task) {
            if sink(recorded?).is_break() {
                return Ok(Read::Stopped);
            }
        }
        Ok(Read::Whole)
    }

    fn each_rederived(
        &self,
        task: &str,
        mut document: ReplayDocument,
        depth: u32,
        sink: Sink<'_>,
    ) -> Result<Read, Break> {
        let finish = self.finish_of(task).map_err(Break::Storage)?;
        if let Some(finish) = &finish {
            document.plan.identity.event_prefix = Some(finish.event_prefix());
        }
        let mut left = finish.as_ref().map_or(0, |finish| finish.events);
        let mut stopped = false;
        let outcome = self.rederive(&document, depth, &mut |step| {
            if left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            let event = again(&document, finish.as_ref(), step);
            stopped = sink(event).is_break();
            if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        match outcome.first_unavailable {
            Some(missing) if !stopped => Err(Break::Missing(missing)),
            _ if stopped => Ok(Read::Stopped),
            _ => Ok(Read::Whole),
        }
    }

    /// Carries a plan out over its source's recording. Stops where the sink says so, and the outcome then is
    /// that of a replay that was called off.
    pub(crate) fn rederive(
        &self,
        document: &ReplayDocument,
        depth: u32,
        sink: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<ReplayOutcome, Break> {
        let Some(depth) = depth.checked_sub(1) else {
            let message = "too many replays of replays";
            return Err(Break::Storage(HarnError::new(HarnErrorCode::InternalError, message)));
        };
        let kept = Kept { harness: self, caller: None };
        let mut replayer = Replayer::new(&document.plan, &kept);
        let (mut missing, mut called_off) = (None, false);
        let source = &document.plan.identity.source_task_id;
        let read = self.each_at(source, depth, &mut |source| match replayer.step(&source.event) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(replayed)) => {
                let went_on = sink(Step { source, replayed });
                called_off = went_on.is_break();
                went_on
            }
            Err(unavailable) => {
                missing = Some(unavailable);
                ControlFlow::Break(())
            }
        });
        match read {
            Ok(_) if called_off => Ok(replayer.cancel()),
            Ok(_) => Ok(replayer.finish(missing)),
            Err(Break::Missing(unavailable)) => Ok(replayer.finish(Some(unavailable))),
            Err(storage @ Break::Storage(_)) => Err(storage),
        }
    }
}

/// An event of the source as the replay has it.
fn again(document: &ReplayDocument, finish: Option<&Finish>, step: Step) -> Recorded {
    let Step { source: Recorded { event, mut told, mut payload }, replayed } = step;
    let overridden = replayed.replay.override_key.as_ref();
    let planned = overridden.and_then(|key| Some((key, document.plan.overrides.get(key)?)));
    let replay_task = &document.plan.identity.replay_task_id;
    told.envelope.id.clone_from(&replayed.event_id);
    told.sequence = finish.map_or(replayed.sequence, |it| it.sequence_of(replayed.sequence));
    if told.resource.object == "task" {
        told.resource = ResourcePointer { object: "task".to_owned(), id: replay_task.clone() };
    }
    told.task_id = Some(replay_task.clone());
    told.previous_event_id = None;
    told.replayed = true;
    if let Some((key, planned)) = planned {
        told.payload = substituted(key, planned);
        payload = told.payload.clone();
    }
    let event = RecordedEvent {
        event_id: replayed.event_id,
        sequence: told.sequence,
        payload_sha256: replayed.payload.sha256(),
        dependency: event.dependency.map(|mut dependency| {
            if let Some((_, planned)) = planned {
                dependency.sha256 = planned.sha256;
                dependency.visibility = planned.visibility;
                dependency.material = match &planned.substitute {
                    Substitute::Value(value) => Material::Value(value.clone()),
                    Substitute::Artifact(id) => Material::Artifact(id.clone()),
                    Substitute::Withheld(_) => Material::HashOnly,
                };
            }
            dependency
        }),
        ..event
    };
    told.replay = Some(replayed.replay);
    Recorded { event, told, payload }
}

/// What is told of an event whose answer was substituted.
fn substituted(key: &str, planned: &PlannedOverride) -> JsonObject {
    let shown =
        planned.visibility == Visibility::Public && planned.kind != DependencyKind::SecretValue;
    let mut payload = match &planned.substitute {
        Substitute::Value(Value::Object(payload))
            if shown && planned.kind == DependencyKind::EventPayload =>
        {
            return JsonObject(payload.clone());
        }
        Substitute::Value(value) if shown => JsonObject::with("value", value.clone()),
        Substitute::Artifact(id) if shown => JsonObject::with("artifact_id", id.as_str()),
        Substitute::Value(_) | Substitute::Artifact(_) | Substitute::Withheld(_) => {
            JsonObject::with("redacted", planned.visibility.as_str())
        }
    };
    payload.insert("key".to_owned(), key.into());
    payload.insert("kind".to_owned(), planned.kind.as_str().into());
    payload
}

impl Recorded {
    /// The event as it is told.
    pub(crate) fn into_told(self) -> Event {
        self.told
    }
}
