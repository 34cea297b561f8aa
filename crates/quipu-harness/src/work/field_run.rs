//! Tasks that the Field itself answers, at once and without a model: ATTUNE to what the Task asks, on behalf
//! of whoever submitted it and where it was submitted. What was found is recorded first and answered afterwards,
//! so that a crash in between changes nothing.

use quipu_core::{
    DocumentKind, Message as FieldMessage, UnitId,
    event::documents::NotedDependency,
    rules::harn::{Expect, FIELD_AGENT, HarnAct, HarnCommand},
};
use quipu_wire::{
    akashik::{AttunePayload, AttuneResponse, Format, Scope},
    harn::{
        Artifact, ArtifactKind, DependencyKind, Failure, HarnError, JsonObject, OutcomeStatus,
        Part, ResourceKind, Sha256, Visibility,
    },
    limits::{AUTHORITY_MAX, TEXT_BYTES_MAX},
    quote::quoted,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Harness, NoteBody,
    handle::{
        failure::{harn_error, is_for_now},
        retry::{WriteError, retry_until_unchanged},
    },
    stored::note::DEPENDENCY_RECORDED,
    task::{
        artifact::{canonical, owned_artifact},
        installed_module::is_module_task,
        tasks::TaskView,
    },
    visibility::parts,
    work::worker::Ending,
};

/// The most units that a Task is answered with.
const UNITS_MAX: usize = 10;

/// What ATTUNE answered, as it is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Dataset {
    /// The units with their ranks, best first.
    units: Vec<Value>,
    #[serde(default)]
    units_available: usize,
    #[serde(default)]
    conflicts: Vec<Value>,
}

/// What the Field answers to a Task, in words.
pub(crate) struct FieldAnswer {
    pub(crate) summary: String,
    pub(crate) text: String,
}

impl FieldAnswer {
    /// The answer that follows from what ATTUNE is said to have answered; otherwise why none does.
    pub(crate) fn of(dataset: Value) -> Result<Self, serde_json::Error> {
        let dataset: Dataset = serde_json::from_value(dataset)?;
        Ok(Self { summary: summary(&dataset), text: text_of_units(&dataset) })
    }
}

/// The key of what ATTUNE answered, by how often it was asked: again only where a purge took away what it had answered.
pub(crate) fn attuned(time: usize) -> String {
    format!("host:attune:{time}")
}

struct Found {
    artifact: Artifact,
    dataset: Dataset,
    quotes: Vec<UnitId>,
}

impl Harness {
    /// Answers the Tasks that are the Field's own, also those that a crash left behind, until the Field is
    /// closed. Each open Field has one of these.
    pub async fn run_field_tasks(self) {
        let mut going = Some(self);
        while let Some(harness) = going {
            let (moves, mut again) = (harness.field.task_moves(), false);
            for id in harness.field_tasks() {
                if let Err(error) = harness.answer_task(&id).await {
                    // What could not be answered now is tried again, at the latest when a task moves.
                    tracing::warn!(task = id, %error, "a task could not be answered");
                    again |= is_for_now(&error);
                }
            }
            going = harness.rest_until(moves, again).await;
        }
    }

    /// The Tasks that the Field has to answer. Replays and modules have runners of their own.
    fn field_tasks(&self) -> Vec<String> {
        self.field.with_state(|state| {
            let held = state.tasks.held_by(FIELD_AGENT).map(|(id, _)| id);
            let replay = |id: &str| state.documents.get(DocumentKind::Replay, id).is_some();
            let own = held.filter(|id| !replay(id) && !is_module_task(state, id));
            own.map(str::to_owned).collect()
        })
    }

    async fn answer_task(&self, id: &str) -> Result<(), HarnError> {
        // A purge may take away what was found while it is recorded or said: then it is asked for anew.
        retry_until_unchanged(|| self.try_answer(id)).await?;
        self.settle(id).await
    }

    async fn try_answer(&self, id: &str) -> Result<(), WriteError> {
        let Some(view) = self.field.with_state(|state| TaskView::any(state, id)) else {
            return Ok(());
        };
        // What is read from here on has nothing of what was purged before.
        let read_at = self.field.head().position;
        let found = self.find_answer(&view, read_at).await;
        self.write_answer(&view, read_at, found).await
    }

    async fn write_answer(
        &self,
        view: &TaskView,
        read_at: u64,
        found: Result<Found, WriteError>,
    ) -> Result<(), WriteError> {
        let command = match found.map_err(|error| (error.is_outdated(), error)) {
            Ok(found) => self.completing(view, found)?,
            Err((true, error)) => return Err(error),
            Err((false, error)) => self.failing_unless_for_now(view, error.into())?,
        };
        let command = HarnCommand { read_at: Some(read_at), ..command };
        self.write_as_field(view.entry.session.as_deref(), command).await?;
        Ok(())
    }

    fn failing_unless_for_now(
        &self,
        view: &TaskView,
        error: HarnError,
    ) -> Result<HarnCommand, HarnError> {
        // It may be answered yet, and perhaps it is.
        if is_for_now(&error) {
            return Err(error);
        }
        let (code, message) = ("attune_failed".to_owned(), error.message);
        self.failing_command(view, Failure { code, message, details: JsonObject::default() })
    }

    /// What was found before, or else what is found now, which is recorded.
    async fn find_answer(&self, view: &TaskView, read_at: u64) -> Result<Found, WriteError> {
        let times = match self.last_answer(&view.id) {
            Some((_, place)) if !self.is_answer_purged(place).await? => {
                return Ok(self.reading(move |harness| harness.found_at(place)).await?);
            }
            last => last.map_or(0, |(times, _)| times),
        };
        let response = self.attune_for(view).await?;
        let key = attuned(times + 1);
        match self.record_answer(view, (&key, read_at), &response).await {
            // Another node was faster, and its answer is the Task's.
            Err(error) if error.is_recorded(&view.id, &key) => match self.last_answer(&view.id) {
                Some((_, place)) => Ok(self.reading(move |it| it.found_at(place)).await?),
                None => Err(error),
            },
            recorded => recorded,
        }
    }

    /// How often ATTUNE was asked for a Task, and where what it answered last is recorded.
    pub(crate) fn last_answer(&self, task: &str) -> Option<(usize, (u64, u32))> {
        self.field.with_state(|state| {
            let recorded = &state.streams.task(task)?.dependencies;
            (1..).map_while(|time| Some((time, *recorded.get(&attuned(time))?))).last()
        })
    }

    /// Whether a purge took away what ATTUNE answered.
    async fn is_answer_purged(&self, place: (u64, u32)) -> Result<bool, HarnError> {
        self.reading(move |harness| {
            let says = harness.field.body_at::<NoteBody>(place);
            let says = says.map_err(|error| harn_error(&error))?;
            let Some(digest) = says.and_then(|says| says.sha256) else { return Ok(false) };
            Ok(harness.field.with_state(|state| {
                let content = state.documents.get(DocumentKind::Content, &digest.bare());
                content.is_some_and(|entry| state.has_purged_words(entry))
            }))
        })
        .await
    }

    async fn attune_for(&self, view: &TaskView) -> Result<AttuneResponse, HarnError> {
        let asked = view.clone();
        let task = self.reading(move |harness| harness.task_document(&asked)).await?;
        let hint = parts::text_of(&task.input, |seen| seen != Visibility::ReceiptOnly);
        let agent = view.entry.created_by.clone();
        let role = self.field.with_state(|state| {
            state.agents.get(&agent).map(|entry| entry.role.clone()).unwrap_or_default()
        });
        let mut scope = Scope::new(role, UNITS_MAX);
        scope.include_own = true;
        scope.active_task_id = Some(view.id.clone());
        let hint = Some(shortened(hint)).filter(|hint| !hint.is_empty());
        let payload =
            AttunePayload { scope, context_hint: hint, format: Format::Full, since_epoch: None };
        let message = FieldMessage {
            id: String::new(),
            agent,
            session: view.entry.session.clone(),
            epoch: 0,
            authority: AUTHORITY_MAX,
            own_key: true,
            key: None,
        };
        let attuned = self.field.attune(message, payload).await;
        attuned.map_err(|error| harn_error(&error))
    }

    async fn record_answer(
        &self,
        view: &TaskView,
        (key, read_at): (&str, u64),
        response: &AttuneResponse,
    ) -> Result<Found, WriteError> {
        let quotes = units_in(response);
        let dataset = Dataset {
            units: response.record.iter().filter_map(json).collect(),
            units_available: response.context_budget.units_available,
            conflicts: response.conflicts.iter().filter_map(json).collect(),
        };
        let bytes = canonical(&json(&dataset).unwrap_or_default())?;
        let id = self.draw(ResourceKind::Artifact);
        let (digest, [mut kept, held]) = self.keep_for(&id, &bytes)?;
        kept.quotes.clone_from(&quotes);
        let mut artifact =
            owned_artifact(view.owner(), &id, ArtifactKind::Dataset, Visibility::Public);
        artifact.sha256 = Some(digest.bare());
        let owner = view.owner();
        let document = self.draft(DocumentKind::Artifact, &id, owner, Expect::New, &artifact)?;
        let says = NoteBody {
            payload: JsonObject::with("sha256", digest.to_string()),
            artifact_id: Some(id),
            sha256: Some(digest),
            request_sha256: self.request_digest(view).await?,
            ..NoteBody::default()
        };
        let mut note = self.note(&view.id, DEPENDENCY_RECORDED, &says)?;
        let (key, kind) = (key.to_owned(), DependencyKind::HostFact);
        note.note.dependency = Some(NotedDependency { key, kind });
        let command = HarnCommand {
            act: Some(HarnAct::WorkOn { task: view.id.clone() }),
            documents: vec![kept, held, document],
            notes: vec![note],
            read_at: Some(read_at),
            ..HarnCommand::default()
        };
        self.write_as_field(view.entry.session.as_deref(), command).await?;
        Ok(Found { artifact, dataset, quotes })
    }

    /// The digest of what was asked: the Task's input.
    async fn request_digest(&self, view: &TaskView) -> Result<Option<Sha256>, HarnError> {
        let asked = view.clone();
        let task = self.reading(move |harness| harness.task_document(&asked)).await?;
        Ok(json(&task.input).and_then(|input| Sha256::of_json(&input).ok()))
    }

    /// What a crash left behind. Reads storage.
    fn found_at(&self, place: (u64, u32)) -> Result<Found, HarnError> {
        let failed = |error| harn_error(&error);
        let gone = || crate::not_found(ResourceKind::Artifact, &attuned(1));
        let says = self.field.body_at::<NoteBody>(place).map_err(failed)?.ok_or_else(gone)?;
        let (id, digest) = says.artifact_id.zip(says.sha256).ok_or_else(gone)?;
        let (artifact, quotes) = self.field.with_state(|state| {
            let artifact = state.documents.get(DocumentKind::Artifact, &id).cloned();
            let content = state.documents.get(DocumentKind::Content, &digest.bare());
            (artifact, content.map(|entry| entry.quotes.clone()))
        });
        let (artifact, quotes) = artifact.zip(quotes).ok_or_else(gone)?;
        let bytes = self.content(&digest)?;
        let dataset = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let dataset = dataset.ok_or_else(gone)?;
        Ok(Found { artifact: self.load(&artifact)?, dataset, quotes })
    }

    fn completing(&self, view: &TaskView, found: Found) -> Result<HarnCommand, HarnError> {
        let Found { artifact, dataset, quotes } = found;
        let ending = Ending {
            status: OutcomeStatus::Succeeded,
            summary: summary(&dataset),
            parts: vec![Part::text(text_of_units(&dataset))],
            output: None,
            artifacts: vec![artifact],
            failure: None,
        };
        let act = HarnAct::Complete { task: view.id.clone(), results: quotes.clone() };
        let mut command = self.ending_command(view, act, ending)?;
        for document in &mut command.documents {
            document.quotes.clone_from(&quotes);
        }
        Ok(command)
    }
}

fn json<T: Serialize>(value: &T) -> Option<Value> {
    serde_json::to_value(value).ok()
}

fn units_in(response: &AttuneResponse) -> Vec<UnitId> {
    let units = response.record.iter().map(|unit| unit.memory_unit.id());
    let disputed = response
        .conflicts
        .iter()
        .flat_map(|conflict| [conflict.unit_a.as_str(), conflict.unit_b.as_str()]);
    let mut ids: Vec<UnitId> = units.chain(disputed).filter_map(UnitId::parse).collect();
    ids.sort();
    ids.dedup();
    ids
}

fn shortened(mut text: String) -> String {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.trim().to_owned()
}

fn summary(dataset: &Dataset) -> String {
    match dataset.units.len() {
        0 => "the Field knows nothing of it".to_owned(),
        1 => "1 unit of the Field".to_owned(),
        many => format!("{many} units of the Field, the most relevant first"),
    }
}

/// The ranked units in words. What somebody recorded is quoted: each line begins with what is ours.
fn text_of_units(dataset: &Dataset) -> String {
    if dataset.units.is_empty() {
        return summary(dataset);
    }
    let line = |(place, unit): (usize, &Value)| {
        let text = |pointer: &str| unit.pointer(pointer).and_then(Value::as_str);
        let content = text("/memory_unit/content").unwrap_or_default();
        let kind = text("/memory_unit/type").unwrap_or_default();
        format!("{}. [{kind}] {}", place + 1, quoted(content))
    };
    dataset.units.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}
