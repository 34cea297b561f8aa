//! The answers that a Task recorded so far, for the worker that goes on with it. They are read from the commits that
//! recorded them, a page at a time: reading all of them reads the Task once.

use quipu_core::{
    Event as Logged, State,
    event::documents::{Note, NotedDependency},
    rules::harn::{AUTHORITY_OTHERS, FIELD_AGENT},
    state::EventAddress,
};
use quipu_log::{BodyContent, Commit, Header};
use quipu_replay::task::Material;
use quipu_wire::{
    harn::{
        DependencyEntry, DependencyEntryObject, DependencyKind, HarnError, HarnErrorCode, List,
        Visibility, Withheld,
    },
    json::page_room::PageRoom,
};

use crate::{
    Caller, EventPosition, Harness, NoteBody,
    event::commits::TaskCommits,
    recording::document::Executor,
    task::tasks::{TaskView, is_replay},
};

/// Whose answers a caller is given of a Task.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    agent: String,
    /// It goes on with the run, and needs whatever the run asked.
    holds: bool,
    sees_others: bool,
    made: bool,
}

impl Reach {
    /// Whoever holds a replay is given answers by `resolve` alone, which asks what part it has in the source.
    fn of(state: &State, caller: &Caller, view: &TaskView) -> Self {
        let replays = is_replay(state, &view.id);
        Self {
            agent: caller.agent.clone(),
            holds: view.entry.holder() == Some(&caller.agent) && !replays,
            // Over what a run kept for itself nobody has the authority that opening a session gives.
            sees_others: caller.authority_within(state, None) >= AUTHORITY_OTHERS,
            // Who asked for a replay has no part in what its source kept for itself.
            made: view.entry.created_by == caller.agent && !replays,
        }
    }

    fn withholds(&self, kind: DependencyKind, seen: Visibility, by: &str) -> Option<Withheld> {
        if kind == DependencyKind::SecretValue {
            return Some(Withheld::Secret);
        }
        let given = seen == Visibility::Public
            // What the server fetched itself is given to no worker.
            || by != FIELD_AGENT
                && (self.holds
                    || self.sees_others
                    || by == self.agent
                    || self.made && seen == Visibility::Internal);
        (!given).then_some(Withheld::Visibility)
    }
}

impl Harness {
    /// `GET /v1/tasks/{task_id}/dependencies`, in the order of recording.
    ///
    /// # Errors
    /// 404 where there is no such Task, 400 where `after_key` was never recorded.
    pub async fn dependencies(
        &self,
        caller: &Caller,
        id: &str,
        after_key: Option<&str>,
        limit: usize,
    ) -> Result<List<DependencyEntry>, HarnError> {
        let view = self.view_task(caller, id)?;
        let reach = self.reach(caller, &view);
        let (task, after) = (id.to_owned(), after_key.map(str::to_owned));
        self.reading(move |harness| {
            let document = harness.replay_document(&task)?;
            if document.is_some_and(|it| it.executor == Executor::InProcess) {
                return harness.replayed_answers(&task, &reach, after.as_deref(), limit);
            }
            harness.recorded_answers(&task, &reach, after.as_deref(), limit)
        })
        .await
    }

    pub(crate) fn reach(&self, caller: &Caller, view: &TaskView) -> Reach {
        self.field.with_state(|state| Reach::of(state, caller, view))
    }

    /// The answer under a key; nothing where none was recorded. Reads storage.
    pub(crate) fn recorded_answer(
        &self,
        task: &str,
        key: &str,
        reach: &Reach,
    ) -> Result<Option<DependencyEntry>, HarnError> {
        let Some(place) = self.recorded_at(task, key) else { return Ok(None) };
        let (header, commit) = self.commit(place.0.0)?;
        let answers = answers_in(&header, &commit, task, reach);
        Ok(answers.map(|(_, entry)| entry).find(|entry| entry.key == key))
    }

    fn recorded_answers(
        &self,
        task: &str,
        reach: &Reach,
        after: Option<&str>,
        limit: usize,
    ) -> Result<List<DependencyEntry>, HarnError> {
        let behind = after.map(|key| self.recorded_at(task, key).ok_or_else(|| unknown(key)));
        let behind: Option<EventAddress> = behind.transpose()?.map(|place| place.0);
        let mut page = AnswerPage::new(limit);
        for commit in TaskCommits::from(self, task, behind.map_or(0, |place| place.0)) {
            let (header, commit) = commit?;
            for (place, entry) in answers_in(&header, &commit, task, reach) {
                if behind.is_some_and(|behind| place <= behind) {
                    continue;
                }
                if !page.takes(entry) {
                    return Ok(page.finish());
                }
            }
        }
        Ok(page.finish())
    }

    /// The answers that a replay in process was given: they follow from its source and its plan.
    fn replayed_answers(
        &self,
        task: &str,
        reach: &Reach,
        after: Option<&str>,
        limit: usize,
    ) -> Result<List<DependencyEntry>, HarnError> {
        let mut page = AnswerPage::new(limit);
        let mut behind = after.is_none();
        for recorded in self.recording(task)?.until_missing() {
            let event = recorded?.event;
            let Some(answer) = event.dependency else { continue };
            if !behind {
                behind = Some(answer.key.as_str()) == after;
                continue;
            }
            let by = if answer.by_server { FIELD_AGENT } else { "" };
            let mut withheld = reach.withholds(answer.kind, answer.visibility, by);
            let (value, artifact_id) = match answer.material {
                Material::Value(value) => (Some(value), None),
                Material::Artifact(id) => (None, Some(id)),
                Material::HashOnly | Material::Gone { .. } => {
                    withheld = withheld.or(Some(Withheld::Erased));
                    (None, None)
                }
            };
            let given = withheld.is_none();
            let entry = DependencyEntry {
                object: DependencyEntryObject::Dependency,
                task_id: task.to_owned(),
                key: answer.key,
                kind: answer.kind,
                visibility: answer.visibility,
                sha256: Some(answer.sha256).filter(|_| tells_digests(withheld)),
                request_sha256: answer.request_sha256.filter(|_| tells_digests(withheld)),
                value: value.filter(|_| given),
                artifact_id: artifact_id.filter(|_| given),
                withheld,
                event_id: event.event_id,
            };
            if !page.takes(entry) {
                break;
            }
        }
        if behind { Ok(page.finish()) } else { Err(unknown(after.unwrap_or_default())) }
    }
}

/// A digest tells a short answer to who guesses; the one of a secret is keyed.
fn tells_digests(withheld: Option<Withheld>) -> bool {
    withheld != Some(Withheld::Visibility)
}

fn unknown(key: &str) -> HarnError {
    let message = format!("after_key: the Task recorded nothing under {key}");
    HarnError::new(HarnErrorCode::InvalidRequest, message).at("after_key")
}

/// The answers that a commit recorded for a Task, with their places.
fn answers_in<'a>(
    header: &'a Header<Logged>,
    commit: &'a Commit,
    task: &'a str,
    reach: &'a Reach,
) -> impl Iterator<Item = (EventAddress, DependencyEntry)> + 'a {
    (0u32..).zip(&header.events).filter_map(move |(index, sealed)| {
        let Logged::TaskNoted { task: of, note } = &sealed.event else { return None };
        let noted = note.dependency.as_ref().filter(|_| of == task)?;
        let stored = commit.bodies.iter().find(|stored| stored.event == index);
        let json = stored.and_then(|stored| match &stored.content {
            BodyContent::Present(body) => Some(body.json.as_slice()),
            BodyContent::Erased => None,
        });
        let place = (header.position, index);
        let entry = entry(
            task,
            place,
            note,
            noted,
            json,
            reach.withholds(noted.kind, note.visibility, &header.actor),
        );
        Some((place, entry))
    })
}

fn entry(
    task: &str,
    place: EventAddress,
    note: &Note,
    noted: &NotedDependency,
    json: Option<&[u8]>,
    withheld: Option<Withheld>,
) -> DependencyEntry {
    let body = json.and_then(|json| serde_json::from_slice::<NoteBody>(json).ok());
    let withheld = withheld.or_else(|| body.is_none().then_some(Withheld::Erased));
    let body = body.unwrap_or_default();
    let imported = note.imported.as_ref().map(|was| was.event_id.clone());
    DependencyEntry {
        object: DependencyEntryObject::Dependency,
        task_id: task.to_owned(),
        key: noted.key.clone(),
        kind: noted.kind,
        visibility: note.visibility,
        sha256: body.sha256.filter(|_| tells_digests(withheld)),
        request_sha256: body.request_sha256.filter(|_| tells_digests(withheld)),
        value: body.value.filter(|_| withheld.is_none()),
        artifact_id: body.artifact_id.filter(|_| withheld.is_none()),
        withheld,
        event_id: imported.unwrap_or_else(|| EventPosition(place).id()),
    }
}

struct AnswerPage {
    limit: usize,
    room: PageRoom,
    data: Vec<DependencyEntry>,
    has_more: bool,
}

impl AnswerPage {
    fn new(limit: usize) -> Self {
        Self { limit, room: PageRoom::default(), data: Vec::new(), has_more: false }
    }

    /// False where the page was full already.
    fn takes(&mut self, entry: DependencyEntry) -> bool {
        self.has_more = self.data.len() >= self.limit || !self.room.takes(&entry);
        if !self.has_more {
            self.data.push(entry);
        }
        !self.has_more
    }

    fn finish(self) -> List<DependencyEntry> {
        let last = self.data.last().filter(|_| self.has_more).map(|entry| entry.key.clone());
        List::page(self.data, last)
    }
}
