//! Reading recordings, whatever made them: of a task that somebody worked on, from its stream; of a replay in process,
//! from its source's recording and its plan. A recording is read event by event, so that nothing is kept.

use quipu_replay::task::{Material, PlannedOverride, RecordedEvent, Substitute};
use quipu_wire::harn::{
    DependencyKind, EventKind, EventName, HarnError, JsonObject, ResourcePointer, TaskState,
    Visibility,
};
use serde_json::Value;

use super::{
    document::{DEPTH_MAX, Executor, ReplayDocument},
    finish::Finish,
    steps::{Step, Steps},
    worked::{Break, Recorded, Worked},
};
use crate::Harness;

/// The recording of a task, event by event. It ends at the first event that cannot be read.
pub(crate) struct Recording {
    events: Events,
    is_over: bool,
}

/// Where the events of a recording come from.
enum Events {
    /// From the task's stream.
    Worked(Box<Worked>),
    /// From the recording of the task that it replays.
    Replayed(Box<Replayed>),
}

/// The events of a replay in process: so many as it had replayed when it ended.
struct Replayed {
    document: ReplayDocument,
    finish: Option<Finish>,
    left: u64,
    steps: Steps,
}

impl Harness {
    /// The recording of a task. Reads storage.
    pub(crate) fn recording(&self, task: &str) -> Result<Recording, HarnError> {
        Recording::of(self, task, DEPTH_MAX, false)
    }
}

impl Recording {
    /// The recording of a task that may have so many replays behind it.
    pub(super) fn of(
        harness: &Harness,
        task: &str,
        depth: u32,
        reads_on: bool,
    ) -> Result<Self, HarnError> {
        let document = harness.replay_document(task)?;
        let events = match document.filter(|it| it.executor == Executor::InProcess) {
            Some(document) => {
                Events::Replayed(Box::new(Replayed::of(harness, task, document, depth)?))
            }
            None => {
                let worked = Worked::new(harness, task);
                Events::Worked(Box::new(if reads_on { worked.reading_on() } else { worked }))
            }
        };
        Ok(Self { events, is_over: false })
    }

    /// The events up to the first of which something is gone for good.
    pub(crate) fn until_missing(self) -> impl Iterator<Item = Result<Recorded, HarnError>> {
        self.filter_map(|recorded| match recorded {
            Ok(recorded) => Some(Ok(recorded)),
            Err(Break::Storage(error)) => Some(Err(error)),
            Err(Break::Missing(_)) => None,
        })
    }
}

impl Iterator for Recording {
    type Item = Result<Recorded, Break>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = match &mut self.events {
            Events::Worked(worked) => worked.next(),
            Events::Replayed(replayed) => replayed.next(),
        };
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Replayed {
    fn of(
        harness: &Harness,
        task: &str,
        mut document: ReplayDocument,
        depth: u32,
    ) -> Result<Self, HarnError> {
        let finish = harness.finish_of(task)?;
        if let Some(finish) = &finish {
            document.plan.identity.event_prefix = Some(finish.event_prefix());
        }
        let left = finish.as_ref().map_or(0, |finish| finish.events);
        let steps = Steps::of(harness, &document, depth)?;
        Ok(Self { document, finish, left, steps })
    }

    fn next(&mut self) -> Option<Result<Recorded, Break>> {
        match self.steps.next() {
            Some(Ok(_)) if self.left == 0 => None,
            Some(Ok(step)) => {
                self.left -= 1;
                Some(Ok(as_replayed(&self.document, self.finish.as_ref(), step)))
            }
            Some(Err(error)) => Some(Err(Break::Storage(error))),
            None => self.steps.missing_at_end().map(|missing| Err(Break::Missing(missing))),
        }
    }
}

/// An event of the source as the replay has it.
fn as_replayed(document: &ReplayDocument, finish: Option<&Finish>, step: Step) -> Recorded {
    let Step { source: Recorded { event, mut narrated, mut payload, gone }, replayed } = step;
    let overridden = replayed.replay.override_key.as_ref();
    let planned = overridden.and_then(|key| Some((key, document.plan.overrides.get(key)?)));
    let replay_task = &document.plan.identity.replay_task_id;
    narrated.envelope.id.clone_from(&replayed.event_id);
    narrated.sequence = finish.map_or(replayed.sequence, |it| it.sequence_of(replayed.sequence));
    if narrated.resource.object == "task" {
        narrated.resource = ResourcePointer { object: "task".to_owned(), id: replay_task.clone() };
    }
    narrated.task_id = Some(replay_task.clone());
    narrated.previous_event_id = None;
    narrated.replayed = true;
    if let EventName::Known(kind) = narrated.event
        && TaskState::ended_by(kind).is_some()
    {
        // How the source ended is told as an event of the run: a stream has one end, which is its own Task's.
        narrated.payload.insert("event".to_owned(), kind.as_str().into());
        narrated.event = EventKind::ReplayEventReplayed.into();
    }
    if let Some((key, planned)) = planned {
        narrated.payload = substituted(key, planned);
        payload = narrated.payload.clone();
    }
    let event = RecordedEvent {
        event_id: replayed.event_id,
        sequence: narrated.sequence,
        payload_sha256: replayed.payload.sha256(),
        dependency: event.dependency.map(|mut dependency| {
            if let Some((_, planned)) = planned {
                dependency.sha256 = planned.sha256;
                dependency.visibility = planned.visibility;
                dependency.by_server = false;
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
    narrated.replay = Some(replayed.replay);
    Recorded { event, narrated, payload, gone }
}

/// The payload of an event whose answer was substituted.
fn substituted(key: &str, planned: &PlannedOverride) -> JsonObject {
    let is_public =
        planned.visibility == Visibility::Public && planned.kind != DependencyKind::SecretValue;
    let mut payload = match &planned.substitute {
        Substitute::Value(Value::Object(payload))
            if is_public && planned.kind == DependencyKind::EventPayload =>
        {
            return JsonObject(payload.clone());
        }
        Substitute::Value(value) if is_public => JsonObject::with("value", value.clone()),
        Substitute::Artifact(id) if is_public => JsonObject::with("artifact_id", id.as_str()),
        Substitute::Value(_) | Substitute::Artifact(_) | Substitute::Withheld(_) => {
            JsonObject::with("redacted", planned.visibility.as_str())
        }
    };
    payload.insert("key".to_owned(), key.into());
    payload.insert("kind".to_owned(), planned.kind.as_str().into());
    payload
}
