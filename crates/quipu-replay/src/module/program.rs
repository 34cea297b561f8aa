//! A compiled module that can be run, wherever that is: here, or in a process of its own. Both do the same.

use serde_json::Value;

use super::{
    answers::Answers,
    compile::Module,
    death::RunError,
    policy::Policy,
    run::{ModuleRun, resume, run},
    snapshot::SnapshotError,
};

/// A compiled module that can be run once.
pub trait Program {
    /// Runs it from the start.
    ///
    /// # Errors
    /// Where it came to no end of its own.
    fn run(
        &self,
        policy: &Policy,
        input: &Value,
        answers: &mut dyn Answers,
    ) -> Result<ModuleRun, RunError>;

    /// Goes on from a snapshot.
    ///
    /// # Errors
    /// Where it came to no end of its own; within, where the snapshot was altered or belongs to something else.
    fn resume(
        &self,
        policy: &Policy,
        snapshot: &[u8],
        answers: &mut dyn Answers,
    ) -> Result<Result<ModuleRun, SnapshotError>, RunError>;
}

/// In this process: what ends the module ends all that is in it.
impl Program for Module {
    fn run(
        &self,
        policy: &Policy,
        input: &Value,
        answers: &mut dyn Answers,
    ) -> Result<ModuleRun, RunError> {
        Ok(run(self, policy, input, answers))
    }

    fn resume(
        &self,
        policy: &Policy,
        snapshot: &[u8],
        answers: &mut dyn Answers,
    ) -> Result<Result<ModuleRun, SnapshotError>, RunError> {
        Ok(resume(self, policy, snapshot, answers))
    }
}
