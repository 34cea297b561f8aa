//! Runs the modules of Tasks. A run begins from the start each time, with the answers that the log has: the same
//! module with the same answers does the same. What came of it is one commit, so a crash repeats the run and
//! loses nothing.

use quipu_core::{
    DocumentKind,
    rules::harn::{Expect, FIELD_AGENT, HarnAct, HarnCommand, NoteDraft},
};
use quipu_replay::module::{Death, ModuleError, ModuleRun, Policy, Program};
use quipu_wire::{
    akashik::TaskStatus,
    harn::{ArtifactKind, Failure, HarnError, OutcomeStatus, Part, ResourceKind, Visibility},
};
use serde_json::Value;

use super::answers::{Live, Trouble, fails};
use crate::{
    Harness, ModuleHost,
    handle::{failure::is_for_now, retry::WriteError},
    task::{
        artifact::{canonical, owned_artifact},
        installed_module::{CompileError, Vaults, input_of, is_module_task},
        tasks::TaskView,
    },
    work::worker::Ending,
};

/// What one leg of a run came to.
enum Leg {
    Ran(Box<HarnCommand>),
    Died(Death),
}

impl Harness {
    /// Runs the modules of Tasks, also of those that a crash left behind, until the Field is closed. Each open
    /// Field has one of these.
    pub async fn run_module_tasks(self) {
        if !self.runs_modules() {
            return;
        }
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

    pub(crate) fn runs_modules(&self) -> bool {
        !matches!(self.options.modules, ModuleHost::Refused)
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
        match self.carry_on(&view).await {
            // It was called off meanwhile, or another node has run it.
            Err(error) if error.stands_at(id).is_some() => Ok(()),
            Err(error) => Err(error.into()),
            Ok(()) => self.settle(id).await,
        }
    }

    /// Runs a module until it ends or asks somebody outside, and writes what came of it.
    async fn carry_on(&self, view: &TaskView) -> Result<(), WriteError> {
        let mut leg = self.leg_of(view).await?;
        if let Leg::Died(death) = leg {
            let task = view.id.clone();
            tracing::warn!(task, %death, "the process of a module died");
            if !self.reading(move |harness| harness.died_before(&task)).await? {
                self.note_death(view, death).await?;
                leg = self.leg_of(view).await?;
            }
        }
        let command = match leg {
            Leg::Ran(command) => *command,
            Leg::Died(death) => self.giving_up(view, death)?,
        };
        self.write_as_field(view.entry.session.as_deref(), command).await.map(|_| ())
    }

    async fn leg_of(&self, view: &TaskView) -> Result<Leg, HarnError> {
        let view = view.clone();
        let _turn = self.options.modules.turn().await;
        self.reading(move |harness| match harness.run_module(&view) {
            Ok(command) => Ok(Leg::Ran(Box::new(command))),
            Err(Trouble::Storage(error)) => Err(error),
            Err(Trouble::Died(death)) => Ok(Leg::Died(death)),
            Err(Trouble::Fails(failure)) => {
                harness.failing_command(&view, failure).map(|it| Leg::Ran(Box::new(it)))
            }
        })
        .await
    }

    /// What is to be written of one leg of a run. Reads storage.
    fn run_module(&self, view: &TaskView) -> Result<HarnCommand, Trouble> {
        let (module, policy, vaults) = self.module_for(&view.id)?;
        let task = self.task_document(view).map_err(Trouble::Storage)?;
        let mut live = Live::new(self, view, &vaults);
        let ran = module.run(&policy, &input_of(&task.input), &mut live)?;
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
    fn module_for(&self, task: &str) -> Result<(Box<dyn Program>, Policy, Vaults), Trouble> {
        let gone = || fails("module_gone", "the source of the module was erased".to_owned());
        let refused = |error: ModuleError| fails("module_refused", error.to_string());
        let of_task = self.module_of(task).map_err(Trouble::Storage)?.ok_or_else(gone)?;
        let policy = self.module_policy(&of_task.installed).map_err(refused)?;
        let compiled = self.compile(&of_task).map_err(|error| match error {
            CompileError::Storage(error) => Trouble::Storage(error),
            CompileError::Run(error) => error.into(),
        })?;
        Ok((compiled.ok_or_else(gone)?.map_err(refused)?, policy, of_task.vaults))
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
