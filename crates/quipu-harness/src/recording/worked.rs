//! A task's stream as a recording: each event as clients read it, with the answer it recorded, the checkpoint it
//! made and what else the run used.

use std::collections::VecDeque;

use quipu_core::{DocumentKind, Event as Logged, event::documents::Note, rules::harn::FIELD_AGENT};
use quipu_log::{BodyContent, Commit, Header};
use quipu_replay::task::{
    Material, RecordedDependency, RecordedEvent, Reference, ReferenceKind, Unavailable,
    UnavailableKind,
};
use quipu_wire::harn::{
    Artifact, Event, EventKind, EventName, HarnError, JsonObject, Sha256, Visibility,
};
use serde_json::Value;

use crate::{
    EventPosition, Harness, NoteBody,
    event::commits::TaskCommits,
    narrate_with_positions,
    stored::{artifact_marks::LogMarks, named_after::rest_of_event_log},
};

/// One event of a recording, as a replay reads it and as clients do.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) event: RecordedEvent,
    pub(crate) narrated: Event,
    /// The particulars, whoever may see them.
    pub(crate) payload: JsonObject,
    /// What was erased of it, for who reads on all the same.
    pub(crate) gone: Option<Unavailable>,
}

/// Why a recording cannot be read on.
#[derive(Debug)]
pub(crate) enum Break {
    /// Something of it is gone for good.
    Missing(Unavailable),
    /// Storage failed; it may be there the next time.
    Storage(HarnError),
}

/// The recording of a task that somebody worked on. Leaves out what was said about it afterwards, and what a
/// replay says of itself.
pub(crate) struct Worked {
    harness: Harness,
    task: String,
    commits: TaskCommits,
    ready: VecDeque<Result<Recorded, Break>>,
    reads_on: bool,
}

impl Worked {
    pub(crate) fn new(harness: &Harness, task: &str) -> Self {
        let commits = TaskCommits::new(harness, task);
        let (harness, task) = (harness.clone(), task.to_owned());
        Self { harness, task, commits, ready: VecDeque::new(), reads_on: false }
    }

    /// Also what is gone, marked as such.
    pub(super) fn reading_on(mut self) -> Self {
        self.reads_on = true;
        self
    }

    /// The part of it that one commit has. Reads storage.
    pub(crate) fn at(
        harness: &Harness,
        task: &str,
        position: u64,
    ) -> Result<VecDeque<Result<Recorded, Break>>, HarnError> {
        let (header, commit) = harness.commit(position)?;
        let mut worked = Self::new(harness, task);
        worked.take_up(&header, &commit);
        Ok(worked.ready)
    }

    fn take_up(&mut self, header: &Header<Logged>, commit: &Commit) {
        let events =
            self.harness.field.with_state(|state| narrate_with_positions(state, header, commit));
        for (at, narrated) in events {
            let recorded = recorded_in(header, commit, &self.task, at, &narrated);
            self.ready.extend(recorded.map(|recorded| match &recorded.gone {
                Some(missing) if !self.reads_on => Err(Break::Missing(missing.clone())),
                Some(_) | None => Ok(recorded),
            }));
        }
    }
}

impl Iterator for Worked {
    type Item = Result<Recorded, Break>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            match self.commits.next()? {
                Ok((header, commit)) => self.take_up(&header, &commit),
                Err(error) => return Some(Err(Break::Storage(error))),
            }
        }
        self.ready.pop_front()
    }
}

/// An Event of a commit as the recording of a task has it; nothing where it is not of that task's run.
pub(crate) fn recorded_in(
    header: &Header<Logged>,
    commit: &Commit,
    task: &str,
    at: EventPosition,
    narrated: &Event,
) -> Option<Recorded> {
    if narrated.task_id.as_deref() != Some(task) || !is_run(narrated) {
        return None;
    }
    let index = at.0.1;
    let sealed = header.events.get(usize::try_from(index).ok()?)?;
    if is_bound_log(&sealed.event, commit, index) {
        return None;
    }
    let mut recorded = recorded(&sealed.event, body_of(commit, index), narrated.clone());
    if let Some(answer) = &mut recorded.event.dependency {
        answer.by_server = header.actor == FIELD_AGENT;
    }
    Some(recorded)
}

/// Whether an event belongs to the run itself.
fn is_run(event: &Event) -> bool {
    !matches!(
        event.event,
        EventName::Known(
            EventKind::ReceiptIssued
                | EventKind::ReceiptVerified
                | EventKind::ReceiptVerificationFailed
                | EventKind::ReplayStarted
                | EventKind::ReplayCompleted
                | EventKind::ReplayFailed
        )
    )
}

/// Whether an event puts the log that binds a run, which is no part of what it binds.
fn is_bound_log(logged: &Logged, commit: &Commit, index: u32) -> bool {
    let Logged::DocumentChanged { document: DocumentKind::Artifact, id, .. } = logged else {
        return false;
    };
    if rest_of_event_log(id).is_none() {
        return false;
    }
    let stored = commit.bodies.iter().find(|stored| stored.event == index);
    let Some(BodyContent::Present(body)) = stored.map(|stored| &stored.content) else {
        return false;
    };
    let artifact = serde_json::from_slice::<Artifact>(&body.json);
    artifact.is_ok_and(|artifact| LogMarks::binds(&artifact.envelope.metadata))
}

/// What is left of an event's free text.
enum Text {
    None,
    Gone,
    Of(Box<NoteBody>),
}

fn body_of(commit: &Commit, index: u32) -> Text {
    let stored = commit.bodies.iter().find(|stored| stored.event == index);
    match stored.map(|stored| &stored.content) {
        None => Text::None,
        Some(BodyContent::Erased) => Text::Gone,
        Some(BodyContent::Present(body)) => {
            serde_json::from_slice(&body.json).map_or(Text::None, |body| Text::Of(Box::new(body)))
        }
    }
}

fn recorded(logged: &Logged, text: Text, narrated: Event) -> Recorded {
    let note = if let Logged::TaskNoted { note, .. } = logged { Some(note) } else { None };
    let gone = matches!(text, Text::Gone);
    let body = match (note, text) {
        (Some(_), Text::Of(body)) => *body,
        (Some(_) | None, Text::None | Text::Gone | Text::Of(_)) => NoteBody::default(),
    };
    let payload = if note.is_some() { &body.payload } else { &narrated.payload }.clone();
    let references = references(logged, &payload);
    let mut event = RecordedEvent {
        event_id: narrated.envelope.id.clone(),
        event: narrated.event.clone(),
        sequence: narrated.sequence,
        at: narrated.envelope.created_at.clone(),
        previous_event_id: None,
        payload_sha256: body.sha256.unwrap_or_else(|| digest(&payload)),
        visibility: note.map_or(Visibility::Public, |note| note.visibility),
        dependency: None,
        checkpoint_id: note.and_then(|note| note.checkpoint.clone()),
        references,
    };
    event.dependency = note.and_then(|note| dependency(note, body, gone));
    if let Some(dependency) = &event.dependency {
        // So that a substitute which says the same is the same.
        event.payload_sha256 = dependency.sha256;
    }
    let erased = event.dependency.is_none() && note.is_some() && gone;
    let gone = erased.then(|| Unavailable {
        kind: UnavailableKind::Event,
        id: event.event_id.clone(),
        override_key: None,
        event_id: Some(event.event_id.clone()),
        sequence: Some(event.sequence),
        reason: "what it said was erased".to_owned(),
    });
    Recorded { event, narrated, payload, gone }
}

fn dependency(note: &Note, body: NoteBody, gone: bool) -> Option<RecordedDependency> {
    let noted = note.dependency.as_ref()?;
    let material = match (body.value, body.artifact_id) {
        _ if gone => Material::Gone { reason: "it was erased".to_owned() },
        (Some(value), _) => Material::Value(value),
        (None, Some(id)) => Material::Artifact(id),
        (None, None) => Material::HashOnly,
    };
    let of_value = || match &material {
        Material::Value(value) => Sha256::of_json(value).ok(),
        Material::Artifact(_) | Material::HashOnly | Material::Gone { .. } => None,
    };
    let sha256 = body.sha256.or_else(of_value).unwrap_or_else(|| Sha256::of(&[]));
    Some(RecordedDependency {
        key: noted.key.clone(),
        kind: noted.kind,
        request_sha256: body.request_sha256,
        sha256,
        visibility: note.visibility,
        material,
        by_server: false,
    })
}

/// The memory units that an event is about. Those of another server's are not here and never were.
fn references(logged: &Logged, payload: &JsonObject) -> Vec<Reference> {
    let memory = |id: &str| {
        let (kind, id) = (ReferenceKind::Memory, id.to_owned());
        Reference { kind, id, sha256: None }
    };
    if let Logged::UnitRecorded { unit, .. } = logged {
        return vec![memory(&unit.to_string())];
    }
    let Logged::TaskNoted { note, .. } = logged else { return Vec::new() };
    if note.imported.is_some() || !note.event.starts_with("agent.memory_") {
        return Vec::new();
    }
    let one = payload.get("memory_id").into_iter();
    let many = payload.get("memory_ids").and_then(Value::as_array).into_iter().flatten();
    one.chain(many).filter_map(Value::as_str).map(memory).collect()
}

fn digest(payload: &JsonObject) -> Sha256 {
    let payload = Value::Object(payload.0.clone());
    Sha256::of_json(&payload).unwrap_or_else(|_| Sha256::of(&[]))
}
