//! Modules whose process died. The first time is written down and the module is tried again, because it may have been
//! the machine's fault; the second time fails the Task. What was written down counts after a restart too.

use quipu_core::{
    Event as Logged,
    rules::harn::{HarnAct, HarnCommand, NoteDraft},
};
use quipu_replay::module::Death;
use quipu_wire::harn::{HarnError, JsonObject};

use crate::{
    Harness, NoteBody, event::commits::TaskCommits, handle::retry::WriteError,
    stored::note::MODULE_DIED, task::tasks::TaskView,
};

impl Harness {
    /// Whether the process of a Task's module died before. Reads storage.
    pub(super) fn died_before(&self, task: &str) -> Result<bool, HarnError> {
        for commit in TaskCommits::new(self, task) {
            let (header, _) = commit?;
            let died = |event: &Logged| {
                matches!(event, Logged::TaskNoted { task: of, note }
                    if of == task && note.event == MODULE_DIED)
            };
            if header.events.iter().any(|sealed| died(&sealed.event)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes down that the process of a Task's module died.
    pub(super) async fn note_death(&self, view: &TaskView, death: Death) -> Result<(), WriteError> {
        let command = HarnCommand {
            act: Some(HarnAct::WorkOn { task: view.id.clone() }),
            notes: vec![self.death_note(view, death)?],
            ..HarnCommand::default()
        };
        self.write_as_field(view.entry.session.as_deref(), command).await.map(|_| ())
    }

    /// The write by which a Task fails whose module died again.
    pub(super) fn giving_up(
        &self,
        view: &TaskView,
        death: Death,
    ) -> Result<HarnCommand, HarnError> {
        let mut command = self.failing_command(view, death.diagnostic().failure())?;
        command.notes = vec![self.death_note(view, death)?];
        Ok(command)
    }

    fn death_note(&self, view: &TaskView, death: Death) -> Result<NoteDraft, HarnError> {
        let mut payload = JsonObject::with("diagnostic", death.code());
        payload.insert("reason".to_owned(), death.to_string().into());
        self.note(&view.id, MODULE_DIED, &NoteBody { payload, ..NoteBody::default() })
    }
}
