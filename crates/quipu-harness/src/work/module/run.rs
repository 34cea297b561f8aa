//! Runs the modules of Tasks. A run begins from the start each time, with the answers that the log has: the same
//! module with the same answers does the same. What came of it is one commit, so a crash repeats the run and
//! loses nothing.

use quipu_core::{
    DocumentKind,
    rules::harn::{Expect, FIELD_AGENT, HarnAct, HarnCommand, NoteDraft},
};
use quipu_replay::module::{Module, ModuleRun, Policy, run};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{ArtifactKind, Failure, HarnError, OutcomeStatus, Part, ResourceKind, Visibility},
};
use serde_json::Value;

use super::answers::{Live, Trouble, fails};
use crate::{
    Harness,
    handle::failure::is_for_now,
    task::{
        artifact::{canonical, owned_artifact},
        installed_module::{Vaults, input_of, is_module_task},
        tasks::TaskView,
    },
    work::worker::Ending,
};

impl Harness {
    /// Runs the modules of Tasks, also of those that a crash left behind, until the Field is closed. Each open
    /// Field has one of these.
    pub async fn run_module_tasks(self) {
        let mut going = Some(self);
        while let Some(harness) = going {
            let (moves, mut again) = (harness.field.task_moves(), false);
            for id in harness.module_tasks() {
                if let Err(error) = harness.run_module_task(&id).await {
                    // What could not be run now is tried again, at the latest when a task moves.
                    tracing::warn!(task = id, %error, "a module could not be run");
                    again |= is_for_now(&error);
                }
            }
            going = harness.rest_until(moves, again).await;
        }
    }

    /// The Tasks whose module can go on.
    fn module_tasks(&self) -> Vec<String> {
        self.field.with_state(|state| {
            let held = state.tasks.held_by(FIELD_AGENT);
            let going = held.filter(|(_, entry)| entry.status == TaskStatus::InProgress);
            let own = going.map(|(id, _)| id).filter(|id| is_module_task(state, id));
            own.map(str::to_owned).collect()
        })
    }

    async fn run_module_task(&self, id: &str) -> Result<(), HarnError> {
        let Some(view) = self.field.with_state(|state| TaskView::any(state, id)) else {
            return Ok(());
        };
        let session = view.entry.session.clone();
        let command = self.reading(move |harness| harness.run_until_question(&view)).await?;
        match self.write_as_field(session.as_deref(), command).await {
            // It was called off meanwhile, or another node has run it.
            Err(error) if error.stands_at(id).is_some() => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => self.settle(id).await,
        }
    }

    /// Runs a module until it ends or asks somebody outside, and says what is to be written. Reads storage.
    fn run_until_question(&self, view: &TaskView) -> Result<HarnCommand, HarnError> {
        match self.run_module(view) {
            Ok(command) => Ok(command),
            Err(Trouble::Storage(error)) => Err(error),
            Err(Trouble::Fails(failure)) => self.failing_command(view, failure),
        }
    }

    fn run_module(&self, view: &TaskView) -> Result<HarnCommand, Trouble> {
        let (module, policy, vaults) = self.module_for(&view.id)?;
        let task = self.task_document(view).map_err(Trouble::Storage)?;
        let mut live = Live::new(self, view, &vaults);
        let ran = run(&module, &policy, &input_of(&task.input), &mut live);
        let answered = live.conclude()?;
        let command = match ran {
            ModuleRun::Completed { value, .. } => self.returning(view, value, answered),
            ModuleRun::Suspended { request, snapshot } => {
                self.question_command(view, request, &snapshot, answered)
            }
            ModuleRun::Failed { diagnostic } => self.breaking(view, diagnostic.failure(), answered),
        };
        command.map_err(Trouble::Storage)
    }

    /// The module of a Task, ready to run, what it may ask for, and which vaults answer it.
    fn module_for(&self, task: &str) -> Result<(Module, Policy, Vaults), Trouble> {
        let gone = || fails("module_gone", "the source of the module was erased".to_owned());
        let refused =
            |error: quipu_replay::module::ModuleError| fails("module_refused", error.to_string());
        let of_task = self.module_of(task).map_err(Trouble::Storage)?.ok_or_else(gone)?;
        let policy = self.module_policy(&of_task.installed).map_err(refused)?;
        let module = self.compile(&of_task).map_err(Trouble::Storage)?.ok_or_else(gone)?;
        Ok((module.map_err(refused)?, policy, of_task.vaults))
    }

    fn returning(
        &self,
        view: &TaskView,
        value: Value,
        answered: Vec<NoteDraft>,
    ) -> Result<HarnCommand, HarnError> {
        let id = self.draw(ResourceKind::Artifact);
        let (digest, [kept, held]) = self.keep_for(&id, &canonical(&value)?)?;
        let mut artifact =
            owned_artifact(view.owner(), &id, ArtifactKind::Dataset, Visibility::Public);
        artifact.sha256 = Some(digest.bare());
        let (kind, owner) = (DocumentKind::Artifact, view.owner());
        let document = self.draft(kind, &id, owner, Expect::New, &artifact)?;
        let ending = Ending {
            status: OutcomeStatus::Succeeded,
            summary: "the module returned".to_owned(),
            parts: vec![Part::Json { value: value.clone(), visibility: Visibility::Public }],
            output: Some(value),
            artifacts: vec![artifact],
            failure: None,
        };
        let act = HarnAct::Complete { task: view.id.clone(), results: Vec::new() };
        let mut command = self.ending_command(view, act, ending)?;
        command.documents.splice(0..0, [kept, held, document]);
        command.notes = answered;
        Ok(command)
    }

    fn breaking(
        &self,
        view: &TaskView,
        failure: Failure,
        answered: Vec<NoteDraft>,
    ) -> Result<HarnCommand, HarnError> {
        let mut command = self.failing_command(view, failure)?;
        command.notes = answered;
        Ok(command)
    }
}
