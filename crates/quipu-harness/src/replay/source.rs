//! What admission asks of the Task that is to be replayed, looked up in one reading of its recording that ends
//! as soon as everything the request names was met.

use std::collections::{BTreeMap, BTreeSet};

use quipu_replay::task::{
    Availability, Boundary, DependencySummary, Materials as _, RecordedEvent, ReferenceKind,
    SourceTask, checkpoint_key, event_key,
};
use quipu_wire::harn::{DependencyKind, HarnError, ReplayTaskRequest, TaskState};

use crate::{Caller, Harness, recording::materials::Kept};

/// The source of a replay, as far as a request asks.
pub(crate) struct Source<'a> {
    task: &'a str,
    state: TaskState,
    kept: Kept<'a>,
    found: BTreeMap<String, DependencySummary>,
    boundaries: Vec<Boundary>,
}

impl<'a> Source<'a> {
    /// Reads what the request names. Reads storage.
    pub(crate) fn read(
        harness: &'a Harness,
        caller: &'a Caller,
        (task, state): (&'a str, TaskState),
        request: &ReplayTaskRequest,
    ) -> Result<Self, HarnError> {
        let kept = Kept { harness, caller: Some(caller) };
        let mut source = Self { task, state, kept, found: BTreeMap::new(), boundaries: Vec::new() };
        let mut wanted: BTreeSet<&str> = request.overrides.keys().map(String::as_str).collect();
        let mut boundaries = usize::from(request.checkpoint_id.is_some())
            + usize::from(request.checkpoint_event_id.is_some());
        if !state.is_terminal() || wanted.is_empty() && boundaries == 0 {
            return Ok(source);
        }
        // What is missing fails the replay and not its admission.
        for recorded in harness.recording(task)?.until_missing() {
            let event = &recorded?.event;
            for (key, kind) in keys(event) {
                if wanted.remove(key.as_str()) {
                    source.found.insert(key, summary(event, kind));
                }
            }
            if let Some(boundary) = boundary(event).filter(|it| names(request, it)) {
                let both = request.checkpoint_id.as_ref() == Some(&boundary.checkpoint_id)
                    && request.checkpoint_event_id.as_ref() == Some(&boundary.event_id);
                boundaries = boundaries.saturating_sub(if both { 2 } else { 1 });
                source.boundaries.push(boundary);
            }
            if wanted.is_empty() && boundaries == 0 {
                break;
            }
        }
        Ok(source)
    }
}

/// The keys under which an event can be substituted.
fn keys(event: &RecordedEvent) -> impl Iterator<Item = (String, DependencyKind)> {
    let answer = event.dependency.as_ref().map(|it| (it.key.clone(), it.kind));
    let checkpoint = event.checkpoint_id.as_deref();
    let checkpoint = checkpoint.map(|id| (checkpoint_key(id), DependencyKind::CheckpointValue));
    // What an event says that recorded an answer follows from the answer, which has a key of its own.
    let payload = event.dependency.is_none().then(|| event_key(&event.event_id));
    let payload = payload.map(|key| (key, DependencyKind::EventPayload));
    answer.into_iter().chain(checkpoint).chain(payload)
}

fn summary(event: &RecordedEvent, kind: DependencyKind) -> DependencySummary {
    DependencySummary { event_id: event.event_id.clone(), sequence: event.sequence, kind }
}

fn boundary(event: &RecordedEvent) -> Option<Boundary> {
    let checkpoint_id = event.checkpoint_id.clone()?;
    Some(Boundary { checkpoint_id, event_id: event.event_id.clone(), sequence: event.sequence })
}

fn names(request: &ReplayTaskRequest, boundary: &Boundary) -> bool {
    request.checkpoint_id.as_ref() == Some(&boundary.checkpoint_id)
        || request.checkpoint_event_id.as_ref() == Some(&boundary.event_id)
}

impl SourceTask for Source<'_> {
    fn task_id(&self) -> &str {
        self.task
    }

    fn state(&self) -> TaskState {
        self.state
    }

    fn dependency(&self, key: &str) -> Option<DependencySummary> {
        self.found.get(key).cloned()
    }

    fn checkpoint(&self, checkpoint_id: &str) -> Option<Boundary> {
        self.boundaries.iter().find(|it| it.checkpoint_id == checkpoint_id).cloned()
    }

    fn checkpoint_at(&self, event_id: &str) -> Option<Boundary> {
        self.boundaries.iter().find(|it| it.event_id == event_id).cloned()
    }

    fn artifact(&self, artifact_id: &str) -> Availability {
        self.kept.find(ReferenceKind::Artifact, artifact_id)
    }
}
