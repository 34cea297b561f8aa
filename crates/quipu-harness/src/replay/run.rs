//! Carrying out a replay in process: the plan over the source's recording, and one commit that ends the Task.
//! What is interrupted is begun again when the Field is opened, and comes to the same.

use quipu_core::{
    DocumentKind, DocumentOwner, State,
    event::coordination::ReasonBody,
    rules::harn::{Expect, FIELD_AGENT, HarnAct, HarnCommand},
};
use quipu_replay::{
    module::{Death, ModuleEnd},
    task::{Drift, ReplayOutcome},
};
use quipu_wire::harn::{
    EventKind, Failure, HarnError, JsonObject, Outcome, OutcomeObject, OutcomeStatus,
    ResourceEnvelope,
};
use serde_json::{Value, json};

use super::{
    field_answer::AnsweredAgain,
    module::{Carried, NoEnd},
};
use crate::{
    Harness, NoteBody,
    handle::{
        failure::{harn_error, is_for_now},
        retry::{WriteError, retry_until_unchanged},
    },
    recording::{
        document::{Executor, ReplayDocument},
        outcome::noted,
    },
    stored::named_after::outcome_id,
    task::tasks::{is_over, is_replay},
};

/// What a replay that the server carries out came to.
struct Replayed {
    document: ReplayDocument,
    /// The write that ends it, or how its module's process died.
    ended: Result<HarnCommand, Death>,
}

impl Harness {
    /// Begins again with what was interrupted. To be called when the Field is opened.
    pub fn resume_replays(&self) {
        let open: Vec<String> = self.field.with_state(|state| {
            let held = state.tasks.held_by(FIELD_AGENT).map(|(id, _)| id.to_owned());
            held.filter(|id| is_replay(state, id)).collect()
        });
        for task in open {
            self.run_in_background(&task);
        }
    }

    /// Carries out a replay while nobody waits for it.
    pub(crate) fn run_in_background(&self, task: &str) {
        let (mut going, task) = (Some(self.clone()), task.to_owned());
        tokio::spawn(async move {
            while let Some(harness) = going {
                let moves = harness.field.task_moves();
                let Err(error) = harness.run_replay(&task).await else { return };
                let again = is_for_now(&error) && harness.runs_modules();
                if !again {
                    tracing::warn!(task, %error, "a replay could not be carried out; it waits for a restart");
                    return;
                }
                tracing::warn!(task, %error, "a replay could not be carried out yet");
                going = harness.rest_until(moves, true).await;
            }
        });
    }

    /// Carries out a replay in process.
    ///
    /// # Errors
    /// Where the log cannot be read or written; what is missing from a recording fails the replay instead.
    pub async fn run_replay(&self, task: &str) -> Result<(), HarnError> {
        // A purge may take away what the answer repeats while it is made: then it is made from what is left.
        retry_until_unchanged(|| self.try_replay(task)).await?;
        self.held.forget(task);
        self.settle(task).await
    }

    async fn try_replay(&self, task: &str) -> Result<(), WriteError> {
        let read_at = Some(self.field.head().position);
        let session = self.field.with_state(|state| state.tasks.get(task)?.session.clone());
        let id = task.to_owned();
        let has_module = self.reading(move |harness| harness.has_module(&id)).await?;
        let _turn = if has_module { self.options.modules.turn().await } else { None };
        let mut given_up = None;
        let command = loop {
            let id = task.to_owned();
            let replayed = self.reading(move |harness| harness.replayed(&id, given_up));
            let Some(Replayed { document, ended }) = replayed.await? else { return Ok(()) };
            match ended {
                Ok(command) => break command,
                Err(death) if document.module_died => given_up = Some(death),
                Err(death) => {
                    tracing::warn!(task, %death, "the process of a replayed module died");
                    let command = self.noting_death(task, document)?;
                    self.write_as_field(session.as_deref(), command).await?;
                }
            }
        };
        let command = HarnCommand { read_at, ..command };
        match self.write_as_field(session.as_deref(), command).await {
            // It was called off meanwhile, or another node ended it: there is nothing left to write.
            Err(error) if error.stands_at(task).is_some_and(is_over) => Ok(()),
            written => written.map(|_| ()),
        }
    }

    /// What a replay comes to, if the server carries it out. Reads storage.
    fn replayed(&self, task: &str, given_up: Option<Death>) -> Result<Option<Replayed>, HarnError> {
        let Some(document) = self.replay_document(task)? else { return Ok(None) };
        if document.executor != Executor::InProcess {
            return Ok(None);
        }
        let outcome = self.carry_out(&document)?;
        let ended = match self.with_module(&document, outcome, given_up) {
            Ok(carried) => Ok(self.ending(&document, &carried)?),
            Err(NoEnd::Died(death)) => Err(death),
            Err(NoEnd::Harn(error)) => return Err(error),
        };
        Ok(Some(Replayed { document, ended }))
    }

    /// The write that keeps in mind that the process of a replay's module died.
    fn noting_death(&self, task: &str, document: ReplayDocument) -> Result<HarnCommand, HarnError> {
        let document = ReplayDocument { module_died: true, ..document };
        let owner = self.field.with_state(|state| owner_of(state, task));
        let draft = self.draft(DocumentKind::Replay, task, owner, Expect::Any, &document)?;
        let act = Some(HarnAct::WorkOn { task: task.to_owned() });
        Ok(HarnCommand { act, documents: vec![draft], ..HarnCommand::default() })
    }

    /// The write that ends a replay Task. Reads storage.
    fn ending(
        &self,
        document: &ReplayDocument,
        carried: &Carried,
    ) -> Result<HarnCommand, HarnError> {
        let Carried { outcome, end } = carried;
        let identity = &document.plan.identity;
        let (task, source) = (&identity.replay_task_id, &identity.source_task_id);
        let of_source = self.outcome_document(source)?;
        let mut quotes = self.field.with_state(|state| {
            let entry = state.documents.get(DocumentKind::Outcome, &outcome_id(source));
            entry.map(|entry| entry.quotes.clone()).unwrap_or_default()
        });
        quotes.extend(self.quoted_by_substitutes(document)?);
        let judged = self.judge(document, carried, of_source.as_ref())?;
        let Judged { status, failure, answered, broke } = judged;
        let mut says = ending_payload(document, outcome, status, failure.as_ref());
        says.extend(end.as_ref().map(|_| noted(outcome)));
        let event = match outcome.first_unavailable {
            None if !broke => EventKind::ReplayCompleted,
            Some(_) | None => EventKind::ReplayFailed,
        };
        let reason = |text: &str| self.field.seal(&ReasonBody { reason: text.to_owned() });
        let message = failure.as_ref().map_or("the source ended so", |it| it.message.as_str());
        let sealed = |text: &str| reason(text).map_err(|error| harn_error(&error));
        let act = match status {
            OutcomeStatus::Succeeded => {
                HarnAct::Complete { task: task.clone(), results: Vec::new() }
            }
            OutcomeStatus::Failed => HarnAct::Fail { task: task.clone(), body: sealed(message)? },
            OutcomeStatus::Canceled => {
                HarnAct::Cancel { task: task.clone(), body: Some(sealed(message)?) }
            }
        };
        let mut document = outcome_of(document, carried, of_source, status, failure);
        let mut documents = Vec::new();
        if let Some(value) = returned_otherwise(carried, &document) {
            let (artifact, drafts) = self.returned_again(task, value)?;
            document.envelope.metadata = JsonObject::with("output", value.clone());
            document.artifacts = vec![artifact];
            documents = drafts;
        }
        if let Some(answered) = answered {
            answered.put_into(&mut document);
        }
        let owner = self.field.with_state(|state| owner_of(state, task));
        let (kind, id) = (DocumentKind::Outcome, document.envelope.id.clone());
        let says = NoteBody { payload: says, ..NoteBody::default() };
        let mut said = self.draft(kind, &id, owner, Expect::Any, &document)?;
        // It goes with the units that it quotes: those of its source, and those of what was substituted.
        said.quotes = quotes;
        documents.push(said);
        Ok(HarnCommand {
            act: Some(act),
            documents,
            notes: vec![self.note(task, event.as_str(), &says)?],
            ..HarnCommand::default()
        })
    }
}

/// How a replay ends.
struct Judged {
    status: OutcomeStatus,
    failure: Option<Failure>,
    /// What the Field answers under a substitute.
    answered: Option<AnsweredAgain>,
    /// Whether it is the replay that failed, and not the run again.
    broke: bool,
}

impl Harness {
    /// How a replay ends: as its source did, unless it drifted or its substitute cannot be used. Reads storage.
    fn judge(
        &self,
        document: &ReplayDocument,
        carried: &Carried,
        source: Option<&Outcome>,
    ) -> Result<Judged, HarnError> {
        let status = status_of(&carried.outcome);
        let broken = |failure: Failure| Judged {
            status: OutcomeStatus::Failed,
            failure: Some(failure),
            answered: None,
            broke: true,
        };
        if let Some(drift) = self.drift_of_module(document, carried, status)? {
            return Ok(broken(drift.failure()));
        }
        let answered = match self.answered_again(document, carried)? {
            Some(Err(unusable)) => return Ok(broken(unusable)),
            Some(Ok(answered)) => Some(answered),
            None => None,
        };
        let failure = failure_of(carried, source);
        Ok(Judged { status, failure, answered, broke: false })
    }

    /// Where the module of a strict replay did not do what was recorded. Reads storage.
    fn drift_of_module(
        &self,
        document: &ReplayDocument,
        carried: &Carried,
        status: OutcomeStatus,
    ) -> Result<Option<Drift>, HarnError> {
        let output = match &carried.end {
            Some(ModuleEnd::Completed { value, .. }) => Some(value),
            Some(ModuleEnd::Failed { .. }) => None,
            Some(ModuleEnd::Unavailable(_)) | None => return Ok(None),
        };
        if !document.strict {
            return Ok(None);
        }
        if let Some(first) = carried.outcome.request_drift.first() {
            let source = &document.plan.identity.source_task_id;
            let recorded = self.recorded_under(source, &first.key)?;
            return Ok(Some(Drift::of_request(first, recorded.as_ref())));
        }
        self.drift_of_output(document, status, output)
    }
}

pub(crate) fn owner_of(state: &State, task: &str) -> DocumentOwner {
    let document = state.documents.get(DocumentKind::Task, task);
    document.map(|entry| entry.owner.clone()).unwrap_or_default()
}

/// A replay ends as its source did, unless something was missing.
fn status_of(outcome: &ReplayOutcome) -> OutcomeStatus {
    match (&outcome.first_unavailable, outcome.lifecycle.final_state) {
        (Some(_), _) | (None, None) => OutcomeStatus::Failed,
        (None, Some(state)) => state,
    }
}

fn failure_of(carried: &Carried, source: Option<&Outcome>) -> Option<Failure> {
    let Carried { outcome, end } = carried;
    if let Some(missing) = &outcome.first_unavailable {
        return Some(missing.failure());
    }
    if let Some(ModuleEnd::Failed { diagnostic }) = end {
        return Some(diagnostic.failure());
    }
    source.filter(|_| status_of(outcome) == OutcomeStatus::Failed)?.failure.clone()
}

fn ending_payload(
    document: &ReplayDocument,
    outcome: &ReplayOutcome,
    status: OutcomeStatus,
    failure: Option<&Failure>,
) -> JsonObject {
    let payload = json!({
        "source_task_id": outcome.source_task_id,
        "mode": document.plan.mode,
        "events": outcome.events,
        "final_state": status,
        "applied_overrides": outcome.applied.iter().map(|applied| &applied.key).collect::<Vec<_>>(),
        "failure": failure,
    });
    JsonObject(payload.as_object().cloned().unwrap_or_default())
}

/// What a module returned in a replay, where it is not what an Outcome says already.
fn returned_otherwise<'c>(carried: &'c Carried, said: &Outcome) -> Option<&'c Value> {
    match &carried.end {
        Some(ModuleEnd::Completed { value, .. }) => {
            Some(value).filter(|value| said.envelope.metadata.get("output") != Some(value))
        }
        Some(ModuleEnd::Failed { .. } | ModuleEnd::Unavailable(_)) | None => None,
    }
}

/// The Outcome of a replay in process. Where no module ran, what came of the source came of it too, unless an
/// answer was changed, and then nobody knows.
fn outcome_of(
    document: &ReplayDocument,
    carried: &Carried,
    source: Option<Outcome>,
    status: OutcomeStatus,
    failure: Option<Failure>,
) -> Outcome {
    let task = &document.plan.identity.replay_task_id;
    let Carried { outcome, end } = carried;
    let changed = !outcome.changed_dependencies().is_empty();
    let output = |said: &Outcome| said.envelope.metadata.get("output").cloned();
    let same = match end {
        None => outcome.first_unavailable.is_none() && !changed,
        Some(ModuleEnd::Completed { value, .. }) => {
            source.as_ref().and_then(output).as_ref() == Some(value)
        }
        Some(ModuleEnd::Failed { .. } | ModuleEnd::Unavailable(_)) => false,
    };
    let (events, mode) = (outcome.events, document.plan.mode);
    let summary = match (&failure, same) {
        (Some(failure), _) => failure.message.clone(),
        (None, true) => format!("{events} events replayed, {mode}"),
        (None, false) if end.is_some() => {
            format!("{events} events replayed, {mode}; the module returned something else")
        }
        (None, false) => {
            format!("{events} events replayed, {mode}; nothing ran, so the output is not known")
        }
    };
    let source = source.filter(|_| same);
    let (messages, artifacts, metadata) =
        source.map(|it| (it.messages, it.artifacts, it.envelope.metadata)).unwrap_or_default();
    let mut said = blank_outcome(task, status, summary);
    (said.messages, said.artifacts, said.envelope.metadata) = (messages, artifacts, metadata);
    said.failure = failure;
    said.metrics = JsonObject::with("replayed_events", events);
    said
}

/// An Outcome that says how a Task ended and nothing else.
pub(crate) fn blank_outcome(task: &str, status: OutcomeStatus, summary: String) -> Outcome {
    Outcome {
        object: OutcomeObject::Outcome,
        envelope: ResourceEnvelope::new(outcome_id(task), ""),
        task_id: task.to_owned(),
        status,
        summary,
        messages: Vec::new(),
        artifacts: Vec::new(),
        handoffs: Vec::new(),
        receipt_id: None,
        failure: None,
        cost: JsonObject::default(),
        metrics: JsonObject::default(),
    }
}
