//! Replay of a Task that a module worked on: the module really runs, and every answer is the recorded one or a
//! substitute. What came of it is noted where the replay ends, and read from there afterwards: a substituted
//! secret is gone by then, and the module is not run for every reader.

use std::cell::RefCell;

use quipu_core::{DocumentKind, rules::harn::DocumentDraft};
use quipu_replay::{
    module::{
        Death, ModuleEnd, ModuleError, ModuleReplay, Recorded, RunError, replay_module,
        replay_module_from,
    },
    task::{
        Availability, Materials, OracleReport, RecordedDependency, ReferenceKind, ReplayOutcome,
        ReplayPlan, Unavailable, UnavailableKind,
    },
};
use quipu_wire::{
    harn::{
        Artifact, ArtifactKind, EventName, HarnError, HarnErrorCode, OutcomeStatus, Sha256,
        TaskState, Visibility,
    },
    json::canon,
};
use serde_json::Value;

use super::run::owner_of;
use crate::{
    Harness,
    recording::{
        document::{DEPTH_MAX, Executor, ReplayDocument},
        materials::Kept,
    },
    stored::named_after::free_output_id,
    task::{
        artifact::{canonical, owned_artifact},
        installed_module::{CompileError, MODULE_KEY, TaskModule, Vaults, input_of, not_now},
        tasks::TaskView,
    },
};

/// A replay with what its module did, if a module worked on its source.
pub(crate) struct Carried {
    pub(crate) outcome: ReplayOutcome,
    pub(crate) end: Option<ModuleEnd>,
}

#[derive(Debug)]
pub(crate) enum NoEnd {
    Died(Death),
    /// Storage failed, or it cannot be run now.
    Harn(HarnError),
}

impl From<HarnError> for NoEnd {
    fn from(error: HarnError) -> Self {
        Self::Harn(error)
    }
}

impl From<RunError> for NoEnd {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Died(death) => Self::Died(death),
            RunError::NotNow { .. } => Self::Harn(not_now(&error)),
        }
    }
}

impl From<CompileError> for NoEnd {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Storage(error) => Self::Harn(error),
            CompileError::Run(error) => error.into(),
        }
    }
}

impl Harness {
    /// Runs the module of a replay's source, if it has one; not again where it died too often. Reads storage.
    pub(crate) fn with_module(
        &self,
        document: &ReplayDocument,
        outcome: ReplayOutcome,
        given_up: Option<Death>,
    ) -> Result<Carried, NoEnd> {
        let over = outcome.first_unavailable.is_some()
            || outcome.lifecycle.final_state == Some(OutcomeStatus::Canceled);
        let behind =
            if over { None } else { self.module_behind(&document.plan.identity.source_task_id)? };
        let Some((of_task, input)) = behind else { return Ok(Carried { outcome, end: None }) };
        let replay = match given_up {
            Some(death) => ModuleReplay::died(death),
            None => self.run_again(document, &of_task, &input)?,
        };
        let (end, before) = (replay.end.clone(), outcome.lifecycle.final_state);
        let mut outcome = replay.settle(outcome);
        let state = match end {
            ModuleEnd::Unavailable(_) => None,
            ModuleEnd::Completed { .. } | ModuleEnd::Failed { .. } => outcome.lifecycle.final_state,
        };
        if state != before {
            // How the source ended is not how the replay does.
            outcome.events = self.events_before_the_end(document)?;
        }
        Ok(Carried { outcome, end: Some(end) })
    }

    /// Whether a module worked on the source of a replay. Reads storage.
    pub(super) fn has_module(&self, replay: &str) -> Result<bool, HarnError> {
        let Some(document) = self.replay_document(replay)? else { return Ok(false) };
        let in_process = document.executor == Executor::InProcess;
        Ok(in_process && self.module_behind(&document.plan.identity.source_task_id)?.is_some())
    }

    fn events_before_the_end(&self, document: &ReplayDocument) -> Result<u64, HarnError> {
        let mut events = 0;
        for step in self.replay_steps(document)? {
            if let EventName::Known(kind) = step?.replayed.event
                && TaskState::ended_by(kind).is_some()
            {
                break;
            }
            events += 1;
        }
        Ok(events)
    }

    /// The Artifact of what a module returned in a replay. Its id follows from the replay's.
    pub(crate) fn returned_again(
        &self,
        task: &str,
        value: &Value,
    ) -> Result<(Artifact, Vec<DocumentDraft>), HarnError> {
        let owner = self.field.with_state(|state| owner_of(state, task));
        let id = self.field.with_state(|state| free_output_id(state, task));
        let (digest, [kept, held]) = self.keep_for(&id, &canonical(value)?)?;
        let (kind, seen) = (ArtifactKind::Dataset, Visibility::Public);
        let mut artifact = owned_artifact(owner.clone(), &id, kind, seen);
        artifact.sha256 = Some(digest.bare());
        let expect = quipu_core::rules::harn::Expect::New;
        let document = self.draft(DocumentKind::Artifact, &id, owner, expect, &artifact)?;
        Ok((artifact, vec![kept, held, document]))
    }

    /// The module of a Task and its input; of a replay in process, those of its source.
    fn module_behind(&self, source: &str) -> Result<Option<(TaskModule, Value)>, HarnError> {
        let mut task = source.to_owned();
        for _ in 0..=DEPTH_MAX {
            match self.replay_document(&task)? {
                Some(it) if it.executor == Executor::InProcess => {
                    task = it.plan.identity.source_task_id;
                }
                _ => break,
            }
        }
        let view = self.field.with_state(|state| TaskView::any(state, &task));
        let (Some(of_task), Some(view)) = (self.module_of(&task)?, view) else { return Ok(None) };
        Ok(Some((of_task, input_of(&self.task_document(&view)?.input))))
    }

    fn run_again(
        &self,
        document: &ReplayDocument,
        of_task: &TaskModule,
        input: &Value,
    ) -> Result<ModuleReplay, NoEnd> {
        let mut plan: ReplayPlan = document.plan.clone();
        self.held.restore(&document.plan.identity.replay_task_id, &mut plan);
        let broken =
            |error: ModuleError| HarnError::new(HarnErrorCode::InternalError, error.to_string());
        let policy = self.module_policy(&of_task.installed).map_err(broken)?;
        let Some(module) = self.compile(of_task)? else {
            return Ok(missing(MODULE_KEY, "its source was erased"));
        };
        let module = module.map_err(broken)?;
        let (vaults, trouble) = (&of_task.vaults, RefCell::new(None));
        let answers = SourceAnswers { harness: self, plan: &plan, vaults, trouble };
        let replay = match &plan.boundary {
            None => replay_module(&*module, &policy, input, &plan, &answers)?,
            Some(boundary) => {
                let id = &boundary.checkpoint_id;
                let snapshot = answers.bytes(id).map(|(_, bytes)| bytes).unwrap_or_default();
                replay_module_from(&*module, &policy, &snapshot, &plan, &answers)?
                    .unwrap_or_else(|error| missing(id, &error.to_string()))
            }
        };
        match answers.trouble.into_inner() {
            Some(error) => Err(error.into()),
            None => Ok(replay),
        }
    }
}

/// A replay that could not begin, because an Artifact cannot be had.
fn missing(id: &str, reason: &str) -> ModuleReplay {
    let missing = Unavailable {
        kind: UnavailableKind::Artifact,
        id: id.to_owned(),
        override_key: None,
        event_id: None,
        sequence: None,
        reason: reason.to_owned(),
    };
    let report = OracleReport {
        consulted: std::collections::BTreeSet::new(),
        request_drift: Vec::new(),
        first_unavailable: Some(missing.clone()),
    };
    ModuleReplay { end: ModuleEnd::Unavailable(missing), report }
}

/// The answers that the source was given.
struct SourceAnswers<'a> {
    harness: &'a Harness,
    plan: &'a ReplayPlan,
    vaults: &'a Vaults,
    /// The first failure of storage.
    trouble: RefCell<Option<HarnError>>,
}

impl SourceAnswers<'_> {
    /// The answer, or nothing where storage failed; that is remembered.
    fn kept<T>(&self, read: Result<Option<T>, HarnError>) -> Option<T> {
        read.unwrap_or_else(|error| {
            self.trouble.borrow_mut().get_or_insert(error);
            None
        })
    }

    fn bytes(&self, id: &str) -> Option<(Sha256, Vec<u8>)> {
        let artifact = self.harness.stored::<Artifact>(DocumentKind::Artifact, id);
        self.kept(self.harness.bytes_of(&self.kept(artifact)?))
    }
}

impl Materials for SourceAnswers<'_> {
    fn find(&self, kind: ReferenceKind, id: &str) -> Availability {
        Kept { harness: self.harness, caller: None }.find(kind, id)
    }
}

impl Recorded for SourceAnswers<'_> {
    fn dependency(&self, key: &str) -> Option<RecordedDependency> {
        let source = &self.plan.identity.source_task_id;
        self.kept(self.harness.recorded_under(source, key))?.dependency
    }

    fn artifact(&self, id: &str) -> Option<Value> {
        canon::parse(&self.bytes(id)?.1).ok()
    }

    fn secret(&self, recorded: &RecordedDependency) -> Option<Value> {
        let task = &self.plan.identity.replay_task_id;
        self.kept(self.harness.vault_value(task, self.vaults, recorded))
    }
}
