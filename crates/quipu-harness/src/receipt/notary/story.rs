//! What the log says of a Task up to one of its endings, read commit by commit. Texts are read and not
//! kept: what is gathered are digests, names and counts.

use std::collections::BTreeMap;

use quipu_core::{
    DocumentKind, Event as Logged,
    event::{
        coordination::{HandoffChange, ReasonBody, TaskChange},
        documents::{DocumentChange, Note},
    },
    state::TaskEntry,
};
use quipu_log::{BodyContent, Commit, Header};
use quipu_replay::receipt::DependencyFact;
use quipu_wire::{
    akashik::TaskStatus,
    harn::{
        Artifact, DependencyKind, Event, HarnError, Redaction, ResourceKind, Sha256, Visibility,
    },
    hash::Hasher,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{effects::Effects, model_usage::ModelUsage, spending::Spending};
use crate::{
    Harness, NoteBody,
    event::{
        event_log::{EventLog, commits_until},
        position::EventPosition,
    },
    handle::failure::internal_error,
    not_found,
};

/// What the log says of a Task up to one of its endings.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) task: String,
    pub(super) entry: TaskEntry,
    pub(super) ending: Ending,
    /// Of the lines of its events; the last line comes to it when the receipt is made.
    pub(super) log: Hasher,
    /// The Artifacts that it has, as they were at the ending.
    pub(super) artifacts: BTreeMap<String, Artifact>,
    pub(super) dependencies: Vec<DependencyFact>,
    /// The first recorded answer that was erased.
    pub(super) erased: Option<String>,
    pub(super) effects: Effects,
    pub(super) spending: Spending,
    pub(super) redactions: Vec<Redaction>,
    /// Whether it happened on another server, and this one only heard of it.
    pub(super) imported: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Ending {
    pub(super) position: u64,
    pub(super) at_ms: u64,
    pub(super) status: TaskStatus,
    pub(super) reason: Option<String>,
}

pub(super) struct Noted<'a> {
    pub(super) note: &'a Note,
    pub(super) body: NoteBody,
    pub(super) actor: &'a str,
    pub(super) at_ms: u64,
    /// The permission request that its commit made or answered.
    pub(super) question: Option<(String, DocumentChange)>,
}

impl Harness {
    /// Reads the story of a Task up to the ending in a commit. Reads storage.
    pub(super) fn story(&self, task: &str, ending: u64) -> Result<Story, HarnError> {
        let found = self.field.with_state(|state| {
            let entry = state.tasks.get(task)?.clone();
            Some((entry, commits_until(state, task, ending)))
        });
        let (entry, commits) = found.ok_or_else(|| not_found(ResourceKind::Task, task))?;
        let mut gathering = Gathering::new(task);
        for position in commits {
            let (header, commit) = self.commit(position)?;
            gathering.add_events(self.bound_events(task, &header, &commit))?;
            gathering.gather(&header, &commit)?;
        }
        for (artifact, beside) in std::mem::take(&mut gathering.spending.in_artifacts) {
            let answer = self.answer_in(&artifact)?;
            gathering.spending.answered(beside, &answer);
        }
        gathering.finish(entry)
    }
}

/// The most bytes of an answer in an Artifact that are looked at for which model gave it.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

impl Harness {
    /// What an answer says that is in an Artifact. Reads storage.
    fn answer_in(&self, artifact: &str) -> Result<ModelUsage, HarnError> {
        let found = self.stored::<Artifact>(DocumentKind::Artifact, artifact)?;
        let bytes = found.map(|artifact| self.bytes_of(&artifact)).transpose()?.flatten();
        let bytes = bytes.map(|(_, bytes)| bytes).filter(|bytes| bytes.len() <= ANSWER_BYTES_MAX);
        let answer = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        Ok(answer.as_ref().map(ModelUsage::of).unwrap_or_default())
    }
}

struct Gathering {
    task: String,
    log: EventLog,
    events: Hasher,
    artifacts: BTreeMap<String, Artifact>,
    ending: Option<Ending>,
    dependencies: Vec<DependencyFact>,
    erased: Option<String>,
    effects: Effects,
    spending: Spending,
    redactions: Vec<Redaction>,
    imported: bool,
}

impl Gathering {
    fn new(task: &str) -> Self {
        Self {
            task: task.to_owned(),
            log: EventLog::new(task),
            events: Hasher::new(),
            artifacts: BTreeMap::new(),
            ending: None,
            dependencies: Vec::new(),
            erased: None,
            effects: Effects::default(),
            spending: Spending::default(),
            redactions: Vec::new(),
            imported: false,
        }
    }

    fn add_events(&mut self, events: Vec<Event>) -> Result<(), HarnError> {
        for line in self.log.lines(events) {
            self.events.update(&line?);
        }
        Ok(())
    }

    fn gather(&mut self, header: &Header<Logged>, commit: &Commit) -> Result<(), HarnError> {
        for (index, sealed) in (0u32..).zip(&header.events) {
            if let Logged::TaskChanged { task, change } = &sealed.event
                && *task == self.task
            {
                self.moved(header, commit, index, change);
            } else if let Logged::TaskNoted { task, note } = &sealed.event
                && *task == self.task
            {
                self.noted(header, commit, index, note)?;
            } else if let Logged::DocumentChanged {
                document: DocumentKind::Artifact,
                id,
                owner,
                ..
            } = &sealed.event
                && owner.task.as_deref() == Some(&*self.task)
            {
                let body = body_of::<Artifact>(commit, index);
                self.artifacts.extend(body.map(|artifact| (id.clone(), artifact)));
            } else if let Logged::HandoffChanged { handoff, change } = &sealed.event {
                self.handed(handoff, change);
            }
        }
        Ok(())
    }

    fn moved(&mut self, header: &Header<Logged>, commit: &Commit, index: u32, change: &TaskChange) {
        let TaskChange::Moved { from, to, .. } = change else { return };
        if from == to {
            return;
        }
        let reason = body_of::<ReasonBody>(commit, index).map(|body| body.reason);
        let (position, at_ms) = (header.position, header.time_ms);
        self.ending = Some(Ending { position, at_ms, status: *to, reason });
    }

    fn noted(
        &mut self,
        header: &Header<Logged>,
        commit: &Commit,
        index: u32,
        note: &Note,
    ) -> Result<(), HarnError> {
        let body = body_of::<NoteBody>(commit, index);
        self.imported |= note.imported.is_some();
        if let Some(dependency) = &note.dependency {
            let sha256 = body.as_ref().and_then(|body| body.sha256);
            let secret = dependency.kind == DependencyKind::SecretValue;
            let Some(sha256) = sha256 else {
                if secret && body.is_some() {
                    self.redactions.push(secret_without_digest(&dependency.key));
                    return Ok(());
                }
                self.erased.get_or_insert_with(|| dependency.key.clone());
                return Ok(());
            };
            let artifact_id = body.as_ref().and_then(|body| body.artifact_id.clone());
            let (key, kind, visibility) =
                (dependency.key.clone(), dependency.kind, note.visibility);
            let fact = DependencyFact { key, kind, sha256, artifact_id, visibility };
            self.dependencies.push(fact);
        }
        let Some(body) = body else { return Ok(()) };
        if note.dependency.is_none() && note.visibility != Visibility::Public {
            let place = EventPosition((header.position, index)).id();
            self.redactions.push(redaction(&place, note.visibility, &body)?);
        }
        let (actor, at_ms) = (header.actor.as_str(), header.time_ms);
        let noted = Noted { note, body, actor, at_ms, question: question_in(header) };
        self.spending.count(&noted);
        self.effects.note(&noted)
    }

    fn handed(&mut self, handoff: &str, change: &HandoffChange) {
        let (HandoffChange::Offered { task, .. } | HandoffChange::Moved { task, .. }) = change;
        if *task == self.task {
            self.effects.handoff(handoff, change);
        }
    }

    fn finish(self, entry: TaskEntry) -> Result<Story, HarnError> {
        let ending =
            self.ending.ok_or_else(|| internal_error(format!("{} never ended", self.task)))?;
        Ok(Story {
            task: self.task,
            entry,
            ending,
            log: self.events,
            artifacts: self.artifacts,
            dependencies: self.dependencies,
            erased: self.erased,
            effects: self.effects,
            spending: self.spending,
            redactions: self.redactions,
            imported: self.imported,
        })
    }
}

/// The permission request that a commit made or answered.
fn question_in(header: &Header<Logged>) -> Option<(String, DocumentChange)> {
    header.events.iter().find_map(|sealed| {
        let Logged::DocumentChanged { document, id, change, .. } = &sealed.event else {
            return None;
        };
        (*document == DocumentKind::PermissionRequest).then(|| (id.clone(), *change))
    })
}

/// What a receipt says instead of a payload that is not for everybody.
fn redaction(event: &str, visibility: Visibility, body: &NoteBody) -> Result<Redaction, HarnError> {
    let payload = || Sha256::of_json(&Value::Object(body.payload.0.clone()));
    let proof = body.sha256.map_or_else(payload, Ok);
    let proof = proof.map_err(|error| internal_error(error.to_string()))?;
    Ok(Redaction {
        field: format!("/events/{event}/payload"),
        reason: format!("the payload is {visibility}"),
        proof_hash: Some(proof),
    })
}

/// What a receipt says of a secret of which not even a digest is kept.
fn secret_without_digest(key: &str) -> Redaction {
    Redaction {
        field: format!("/replay_input/materials/{key}"),
        reason: "secret material is never in a receipt".to_owned(),
        proof_hash: None,
    }
}

/// The body of an event of a commit, unless it was erased.
pub(super) fn body_of<T: DeserializeOwned>(commit: &Commit, index: u32) -> Option<T> {
    let stored = commit.bodies.iter().find(|stored| stored.event == index)?;
    match &stored.content {
        BodyContent::Present(body) => serde_json::from_slice(&body.json).ok(),
        BodyContent::Erased => None,
    }
}
